import { createAddressPolicy, type AddressRanges } from './address-policy.ts';
import { judgeUrlHost } from './judge-url-host.ts';

/** See `judgeUrlHost`. The url must be a valid endpoint url. */
export function createEndpointUrlJudge(ranges: AddressRanges): (url: string) => string | undefined {
  const policy = createAddressPolicy(ranges);
  return (url) => judgeUrlHost(new URL(url), policy);
}
