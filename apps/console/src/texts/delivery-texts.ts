/** What the pages about deliveries say. */
export const deliveryTexts = {
  title: 'Deliveries',
  allTitle: 'All deliveries',
  headings: {
    status: 'Status',
    event: 'Event',
    task: 'Task',
    endpoint: 'To',
    accepted: 'Accepted',
    tries: 'Tries',
    answer: 'Last answer',
    next: 'Next try',
  },
  statuses: { pending: 'Pending', delivered: 'Delivered', failed: 'Failed', canceled: 'Canceled' },
  filters: {
    label: 'Filter',
    status: 'Status',
    event: 'Event',
    time: 'Time',
    receiver: 'Receiver',
    anyReceiver: 'Any receiver',
    result: 'Last answer',
    anyResult: 'Any answer',
    answered: 'Answered with',
    unanswered: 'No answer, or not sent',
    answer: (status: string) =>
      ({ '2xx': '2xx, success', '3xx': '3xx, redirect', '4xx': '4xx, refused', '5xx': '5xx, failure' })[status] ??
      status,
    search: 'Task or delivery id',
    anyStatus: 'Any status',
    anyEvent: 'Any event',
    anyTime: 'Any time',
    ranges: { '1h': 'Last hour', '24h': 'Last 24 hours', '7d': 'Last 7 days' },
    clear: 'Clear',
    wrongId: 'An id starts with dlv_ or task_.',
  },
  test: 'test event',
  sample: 'sample',
  none: 'none yet',
  due: 'due',
  /** Of what is due and waits. */
  waits: {
    unanswered: 'waits: no answer',
    held: 'waits: Retry-After',
    pausedByPlatform: 'waits: paused',
    rate: 'waits: rate limit',
  },
  after: 'after',
  atTheLatest: (time: string) => `It waits for its turn, and goes at the latest ${time}`,
  emptyTitle: 'No delivery',
  empty: 'None has been made yet. Send a test event to see one.',
  emptyFiltered: 'None matches the filter.',
  newOnes: (count: number, isMore: boolean) =>
    count === 1 ? '1 new delivery' : `${isMore ? 'More than ' : ''}${count} new deliveries`,
  more: 'Load more',
  noMore: 'There are no older ones.',
  historyAway: 'The history cannot be reached now. Older deliveries may be missing here.',
  selected: (count: number) => (count === 1 ? '1 selected' : `${count} selected`),
  selection: 'Selected deliveries',
  selectShown: 'Select all shown',
  unselect: 'Unselect',
  askedFor: (count: number, total: number) => `Asked for ${count} of ${total}`,
  stop: 'Stop',
  redeliverAll: 'Redeliver all that match…',
  tryAllNow: 'Try all pending now…',
  select: (id: string) => `Select ${id}`,
  redeliverMany: 'Redeliver',
  redelivered: (count: number) =>
    count === 1 ? 'One more attempt is made now.' : `${count} deliveries get one more attempt now.`,
  someRefused: (count: number, why: string) => `${count} could not be redelivered: ${why}`,
  redeliver: 'Redeliver',
  redelivering: 'Asking…',
  redeliverHint: 'Sends the same bytes under the same id, now. If it fails, the schedule goes on as it is.',
  owed: (count: number) => (count === 1 ? 'A redelivery is on its way.' : `${count} redeliveries are on their way.`),
  summary: {
    delivered: (attempts: number, length: string) =>
      `It arrived ${attempts === 1 ? 'at the first attempt' : `at attempt ${attempts}`}, ${length} after the event.`,
    pendingFirst: 'The first attempt is on its way.',
    unanswered:
      'It is due, and waits: its receiver gave no answer several times in a row, so one delivery at a time is sent to see whether it does again. Waiting spends no try. Redeliver tries it now.',
    held: 'It is due, and waits: its receiver asked for a pause with Retry-After. Waiting spends no try. Redeliver tries it now.',
    pausedByPlatform:
      'It is due, and waits: the platform has paused its receiver. Waiting spends no try. It goes when the platform lets it go on; a redelivery waits, too.',
    rate: 'It is due, and waits for the rate limit of its receiver. Waiting spends no try. Redeliver sends it now.',
    inWork: 'An attempt is due now.',
    waits: 'It waits for its turn. The delivery of the same Task that must end first:',
    latest: 'At the latest it goes in',
    pendingNext: (tries: number) => `${tries === 1 ? 'One try' : `${tries} tries`} failed. The next is in`,
    pendingWhy: 'The schedule waits longer after each failure, and Retry-After of an answer moves it later.',
    settled: (when: string) => `It was settled ${when}.`,
  },
  rotated:
    'Its signing secret was rotated, and x-service-signature is made with the old one until the overlap ends. The page of the receiver has “End now”, if the old one is lost. It ends',
  verify: 'Verify this one',
  attempts: 'Attempts',
  noAttempt: 'No attempt was made.',
  attempt: (number: number) => `Attempt ${number}`,
  odd: 'The status counts. But the answer was odd:',
  proof: { address: 'Called', keys: 'signed by', digest: 'SHA-256 of the answer begins with' },
  answerHeaders: 'Answer headers',
  answer: 'Answer',
  theAnswer: 'the answer',
  answerCut: 'The first 1 KiB, as it came.',
  noAnswer: 'The answer had no body.',
  nextTry: 'Next try',
  latestTry: 'At the latest',
  request: 'Request',
  url: 'Method and URL',
  requestHeaders: 'Headers',
  body: 'Body',
  theBody: 'the body',
  bodyGone: {
    erased: 'The body was erased with the payloads of its Task.',
    not_kept: 'The body is no longer kept.',
  },
  urlGone: 'The endpoint was removed, and its URL with it.',
  urlChanged: 'The last attempt went to the former URL. It was changed',
  released:
    'It was sent before its turn: an earlier event of its Task was not settled. It had waited as long as the orderingTimeout of its endpoint allows, or somebody asked for a redelivery. The earlier one may come later: go by sequence in the body.',
  omitted: 'sent, never shown',
  omittedYet: 'made when it is sent, never shown',
  copyCurl: 'Copy as curl',
  curl: 'the request as curl',
  facts: {
    endpoint: 'To',
    callback: 'callback of the Task',
    task: 'Task',
    transition: 'Transition',
    accepted: 'Accepted',
    settled: 'Settled',
  },
} as const;

/** Why an answer that came is a failure, and what to do about it. By status; the hundreds stand for the others. */
export const answerTexts: Readonly<Record<number, { readonly meaning: string; readonly action: string }>> = {
  300: {
    meaning: 'It answered with a redirect. Herald follows none.',
    action: 'Edit the receiver: its URL should be the one that the redirect leads to.',
  },
  400: { meaning: 'Your endpoint refused the request.', action: 'Read its answer, and the log of your endpoint.' },
  401: {
    meaning: 'Your endpoint took the request for a forged one.',
    action:
      'Check that it has the right secret and verifies the raw body. The page [Verify a signature](/console/verify) finds out what differs.',
  },
  403: {
    meaning: 'Your endpoint, or a firewall in front of it, forbids the request.',
    action: 'Let requests of the user agent Herald through.',
  },
  404: {
    meaning: 'Nothing is at the path of the URL.',
    action: 'Check the path of the URL, and the routes of your endpoint.',
  },
  405: { meaning: 'The path of the URL takes no POST.', action: 'Let your endpoint take POST requests at this path.' },
  408: {
    meaning: 'Your endpoint waited too long for the request.',
    action: 'Look at the load of your endpoint and of proxies in front of it.',
  },
  409: {
    meaning: 'Your endpoint is handling this delivery right now, or refuses it.',
    action: 'Herald tries again. If it stays, read its answer.',
  },
  410: {
    meaning: 'Your endpoint says that it is gone for good. Herald disables it.',
    action: 'Enable the receiver when it is there again, then replay.',
  },
  413: {
    meaning: 'Your endpoint, or a proxy in front of it, refuses a body of this size.',
    action: 'Allow bodies of 1 MiB.',
  },
  415: { meaning: 'Your endpoint refuses JSON.', action: 'Let it take content-type: application/json.' },
  429: {
    meaning: 'Your endpoint asks for fewer requests.',
    action: 'Herald slows down by Retry-After. Answer first and do the work afterwards, to take more.',
  },
  500: { meaning: 'Your endpoint failed.', action: 'Read its answer, and look into its log at this time.' },
  502: {
    meaning: 'A proxy in front of your endpoint got no usable answer from it.',
    action: 'Look whether your endpoint runs, and at the log of the proxy.',
  },
  503: {
    meaning: 'Your endpoint says that it is not available now.',
    action: 'Look whether it runs and has capacity. Herald waits as long as Retry-After says.',
  },
  504: {
    meaning: 'A proxy in front of your endpoint waited too long for it.',
    action: 'Answer first, and do the work afterwards.',
  },
  600: {
    meaning: 'It answered with a status that HTTP doesn’t know.',
    action: 'Answer with any status from 200 to 299.',
  },
};

/** What the page about a Task says. */
export const taskTexts = {
  title: 'Task',
  emptyTitle: 'No delivery',
  empty: 'No transition of this Task was sent to anybody: nothing has happened yet, or no receiver had subscribed.',
  deliveriesOf: (event: string) => `Deliveries of ${event}`,
} as const;
