import { ERROR_CODES } from './error-codes.ts';
import { renderCodes } from './render-codes.ts';
import { renderPage } from './render-page.ts';

const { problems, attempts, answers, deliveries, readiness } = ERROR_CODES;

/** `/errors` for people. */
export const ERRORS_PAGE = renderPage(
  '/errors',
  'Error codes',
  `<p>Every code is stable. What each means, and what to do about it:</p>
<ul>
<li><a href="#problems">Answers of the API</a>: the <code>code</code> of a problem</li>
<li><a href="#attempts">Attempts</a>: the <code>error</code> of an attempt that got no usable answer</li>
<li><a href="#answers">Answers of endpoints</a>: the <code>bodyNote</code> of an attempt whose answer was odd</li>
<li><a href="#deliveries">Deliveries</a>: the <code>reason</code> of a delivery that was not delivered</li>
<li><a href="#readiness">Readiness</a>: the <code>code</code> of what <code>/readyz</code> shows, for operators</li>
</ul>
<h2 id="problems">Answers of the API</h2>
<p>A problem also has a <code>detail</code>: a sentence about this very request.</p>
${renderCodes('problems', problems)}
<h2 id="attempts">Attempts</h2>
<p>Each of these failures is retried on the <a href="/docs/receiving#retries">schedule</a>.</p>
${renderCodes('attempts', attempts)}
<h2 id="answers">Answers of endpoints</h2>
<p>The status decides: none of these is a failure.</p>
${renderCodes('answers', answers)}
<h2 id="deliveries">Deliveries</h2>
${renderCodes('deliveries', deliveries)}
<h2 id="readiness">Readiness</h2>
${renderCodes('readiness', readiness)}`,
);
