import { createAddressPolicy } from './address-policy.ts';
import { judgeUrlHost } from './judge-url-host.ts';

/** See `judgeUrlHost`. The url must be a valid endpoint url. */
export function createEndpointUrlJudge(allowCidrs: readonly string[]): (url: string) => string | undefined {
  const policy = createAddressPolicy({ allowCidrs });
  return (url) => judgeUrlHost(new URL(url), policy);
}
