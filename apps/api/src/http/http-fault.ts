/** Faults of a request that HTTP itself knows; foreseen faults of the domain are `DomainError`s. */
export type HttpFaultCode =
  | 'invalid_json'
  | 'malformed_request'
  | 'unauthenticated'
  | 'insufficient_scope'
  | 'foreign_origin'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'idempotency_conflict'
  | 'request_in_progress'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'request_timeout'
  | 'headers_too_large';

export class HttpFault extends Error {
  override readonly name = 'HttpFault';
  readonly code: HttpFaultCode;
  /** Response headers that belong to the answer. */
  readonly headers: Readonly<Record<string, string>>;
  constructor(code: HttpFaultCode, detail: string, headers: Readonly<Record<string, string>> = {}) {
    super(detail);
    this.code = code;
    this.headers = headers;
  }
}
