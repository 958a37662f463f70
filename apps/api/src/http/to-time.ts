/** Epoch ms as the RFC 3339 text that the API shows. */
export function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
