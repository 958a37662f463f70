import { cutUrl } from '../text/cut-url.ts';
import { ForeignText } from './foreign-text.tsx';

/** A url of a customer: its host stands out. It is no link, since whoever wrote it chose where it leads. */
export function Url({ url }: { readonly url: string }) {
  const { host, path } = cutUrl(url);
  return (
    <span class="url" title={url.length > 300 ? undefined : url}>
      <span class="url-host">
        <ForeignText text={host} />
      </span>
      <span class="url-path">
        <ForeignText text={path} />
      </span>
    </span>
  );
}
