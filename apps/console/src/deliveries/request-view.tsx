import type { Schemas } from '../api/client.ts';
import { curlText } from '../text/curl-text.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { Copy } from '../ui/copy.tsx';
import { Json } from '../ui/json.tsx';
import { Time } from '../ui/time.tsx';
import { Url } from '../ui/url.tsx';
import { HeaderList } from './header-list.tsx';

/** The request as it is sent. */
export function RequestView({ request }: { readonly request: Schemas['DeliveryRequest'] }) {
  const { url, urlChangedAt, headers, omittedHeaders, body, bodyGone = 'not_kept' } = request;
  return (
    <section aria-labelledby="request">
      <div class="section-head">
        <h2 id="request">{deliveryTexts.request}</h2>
        {url !== null && <Copy text={curlText(request)} what={deliveryTexts.curl} label={deliveryTexts.copyCurl} />}
      </div>
      <div class="request-line" role="group" aria-label={deliveryTexts.url} tabIndex={0}>
        <strong>POST</strong> {url === null ? <span class="quiet">{deliveryTexts.urlGone}</span> : <Url url={url} />}
      </div>
      {urlChangedAt !== undefined && (
        <p class="notice">
          {deliveryTexts.urlChanged} <Time at={urlChangedAt} />.
        </p>
      )}
      <HeaderList label={deliveryTexts.requestHeaders} headers={headers} omitted={omittedHeaders} />
      {headers['x-service-ordering'] === 'released' && <p class="notice">{deliveryTexts.released}</p>}
      {body === null ? (
        <p class="notice">{deliveryTexts.bodyGone[bodyGone]}</p>
      ) : (
        <Json text={body} what={deliveryTexts.theBody} />
      )}
    </section>
  );
}
