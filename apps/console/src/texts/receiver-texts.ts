function whoDisabled(by: string | undefined): string {
  if (by === 'platform') return 'The platform';
  if (by === undefined) return 'Somebody';
  return `Somebody with ${by.startsWith('plk_') ? 'the link' : 'the API key'} ${by}`;
}

/** What follows a sentence that a reason may end. */
function sentenceOf(reason: string | undefined): string {
  return `${reason === undefined ? '' : `: ${reason}`}${reason !== undefined && /[.!?]$/.test(reason) ? '' : '.'}`;
}

function whatWaits(backlog: number): string {
  if (backlog === 0) return 'Deliveries wait';
  return backlog === 1 ? 'One delivery waits' : `${backlog} deliveries wait`;
}

/** What the pages about receivers say. */
export const receiverTexts = {
  title: 'Receivers',
  add: 'Add receiver',
  empty: 'A receiver is a URL of yours. Herald sends it a signed POST request for every event that you choose.',
  steps: {
    title: 'No receiver yet: three steps to the first event',
    goesOn: 'On the way to the first event',
    arrived: 'The first event has arrived',
    see: 'See it under Deliveries',
    done: '(done)',
    add: 'Add a receiver',
    test: 'Send it a test event',
    real: 'See a real event arrive',
    readOnly: 'This link may only look. Whoever may change something adds the receiver.',
    testHint: 'It is signed like a real one, and you see at once what your receiver answered.',
    realHint: 'The next event of a Task comes by itself. It stands under Deliveries as soon as it is there.',
  },
  limit: (count: number) => `${count} of 10 receivers${count >= 10 ? '. Remove one to add another' : ''}`,
  headings: {
    receiver: 'Receiver',
    state: 'State',
    day: '24 hours',
    p95: 'p95',
    last: 'Last delivery',
    waiting: 'Waiting',
  },
  allEvents: 'All events',
  noTraffic: 'no traffic',
  sparkline: (delivered: number, failed: number) => `In 24 hours ${delivered} delivered, ${failed} failed attempts`,
  states: {
    healthy: 'Healthy',
    atRate: 'Healthy, at its rate limit',
    untried: 'No delivery yet',
    tested: (status: number, ago: string) => `Tested ${ago}: ${status}; no event yet`,
    testFailed: (ago: string) => `The test failed ${ago}; no event yet`,
    failing: (length: string) => `Failing for ${length}`,
    unanswered: (length: string) => `Gives no answer; failing for ${length}`,
    held: (end: string) => `Asked to wait; goes on ${end}`,
    pausedByPlatform: (length: string) => `Paused by the platform for ${length}`,
    disabled: (length: string) => `Disabled ${length}`,
  },
  explain: {
    healthy: (last: string) => `The last delivery arrived ${last}.`,
    untried: 'Nothing has been sent to it yet. Send a test event.',
    tested: 'It takes what Herald sends. The next event of a Task comes by itself.',
    testFailed: 'Events are sent to it all the same. Send another test event once it is fixed.',
    failing: (count: number, last: string) =>
      `${count === 1 ? 'The last attempt' : `The last ${count} attempts`} failed${last === '' ? '' : `; the last success was ${last}`}. Herald goes on trying.`,
    unanswered: (next: string, backlog: number) =>
      `It gave no answer several times in a row, so one delivery at a time is sent to see whether it does again. The next such probe: ${next}. ${whatWaits(backlog)} and lose no try. Redelivering one tries it now.`,
    held: (backlog: number) =>
      `Its last answer asked for the pause with Retry-After. ${whatWaits(backlog)} and lose no try; Herald goes on by itself, or with the first success. Redelivering one tries it now.`,
    pausedByPlatform: (reason: string | undefined, backlog: number) =>
      `The platform holds back what is sent to it${sentenceOf(reason)} Only the platform lets it go on: ask it. ${whatWaits(backlog)} and lose no try, redeliveries too; test events are sent.`,
    by_request: (by: string | undefined) =>
      `${whoDisabled(by)} disabled it. It gets only test events. What it misses is recorded as canceled, so that you can replay it.`,
    locked: (reason: string | undefined) =>
      `Disabled by the platform${sentenceOf(reason)} Only the platform enables it again: ask it. Until then nothing is sent to it, and what it misses is recorded as canceled.`,
    waitingForRate: (count: number, perSecond: number | undefined) =>
      `${count === 1 ? 'One delivery waits' : `${count} deliveries wait`} because of the rate limit${perSecond === undefined ? '' : ` of ${perSecond} per second`}; waiting spends no try.`,
    gone: 'It answered 410 Gone, which says that it doesn’t exist any more. Enable it when it does again, then replay what it missed.',
    failing_disabled:
      'It failed for too long without one success. Fix it, send a test event, enable it, then replay what it missed.',
  },
  backlog: {
    goes: (count: number, perSecond: string, length: string) =>
      `${count === 1 ? 'One delivery is' : `${count} deliveries are`} due. At the present rate of ${perSecond} a second, and if no more come, they are sent in about ${length}.`,
    stands: (count: number) =>
      `${count === 1 ? 'One delivery is' : `${count} deliveries are`} due, and nothing was sent in the last minute.`,
  },
  form: {
    addTitle: 'Add a receiver',
    editTitle: 'Edit the receiver',
    url: 'URL',
    urlHint: 'https:// and a public host. It is called exactly as you write it.',
    urlPrefix: 'The URL',
    sameUrl:
      'Another receiver has this URL. An event that both want is delivered to it twice, under two delivery ids, so that it can’t tell the repeat.',
    description: 'Description',
    descriptionHint: 'For people. Optional.',
    events: 'Events',
    allEvents: 'All events, also those that come later',
    meanings: {
      'task.check_in': 'a Task reached a checkpoint',
      'task.requires_action': 'a Task needs an approval or a decision',
      'task.done': 'a Task is done',
      'task.canceled': 'a Task was canceled',
    },
    chooseOne: 'Choose at least one event, or all.',
    submit: 'Add receiver',
    newUrl: 'A new URL forgets the failures of the old one.',
  },
  advanced: {
    title: 'Advanced: order, rate, tries, headers',
    ordering: 'Send the events of each Task one after the other',
    orderingTimeout: 'Longest wait for a turn',
    noDuration: 'must be a duration such as 30m, 24h or 2d',
    orderingTimeoutHint:
      'From 1m to 5d. An event that has waited so long is sent with x-service-ordering: released, although an earlier one is not settled.',
    rate: 'Most deliveries per second',
    rateHint: 'From 1 to 1000. Empty: no limit.',
    maxRetryHours: 'Hours to try',
    maxRetryHoursHint: 'From 1 to 120. Empty: five days.',
    headers: 'Headers of your own',
    headersHint: 'One per line, name: value; at most ten. The values are encrypted and never shown again.',
    newHeadersHint: 'They replace those that it has. Empty: it has none any more.',
    replaceHeaders: 'Replace the headers',
    dropsHeaders:
      'The new URL has another origin. Its headers are removed when you save, so that no other host sees their values: give them again if the new host needs them.',
    notWhole: 'must be a whole number',
    noColon: (line: number) => `line ${line} must be name: value`,
    twice: (line: number) => `line ${line} has a name that an earlier line has`,
  },
  facts: {
    ordering: 'Order',
    inOrder: (timeout: string) => `by Task; an event waits at most ${timeout} for those before it`,
    rate: 'Rate limit',
    perSecond: (count: number) => `${count} per second`,
    tries: 'Tries',
    hours: (count: number) => (count === 1 ? 'for one hour' : `for ${count} hours`),
    headers: 'Headers of your own',
  },
  secret: {
    title: 'The signing secret',
    once: 'This is the only time that it is shown. Keep it as you keep a password, out of your code. Whoever loses it rotates it.',
    copy: 'Copy the secret',
    notCopied: 'You have not copied the secret, and nothing shows it again.',
    closeAnyway: 'Close without it',
    what: 'the signing secret',
    hidden:
      'The receiver was registered by an earlier request, whose answer had the secret. Rotate the secret to get a new one.',
    verify: 'Verify deliveries with it',
    verifyHint: 'A whole receiver to copy. It checks both signatures over the raw body, and ignores repeats.',
    install: (language: string) => `It needs the kit for ${language}, which this service has as a file.`,
    howTo: 'How to install and run it',
    language: 'Language',
    example: (language: string) => `the receiver in ${language}`,
    done: 'I have kept it',
  },
  actions: {
    label: 'Actions',
    test: 'Send test event',
    replay: 'Replay',
    rotate: 'Rotate secret',
    edit: 'Edit',
    disable: 'Disable',
    enable: 'Enable',
    remove: 'Remove',
    pause: 'Pause',
    resume: 'Resume',
    lock: 'Lock',
    unlock: 'Lift the lock',
  },
  test: {
    title: 'Send a test event',
    event: 'Event',
    sample: (event: string) => `${event} (a sample)`,
    hint: 'It is signed like a real one, sent at once and never retried. A sample looks like the event, of a Task that doesn’t exist.',
    send: 'Send',
    sending: 'Sending…',
    delivered: (status: string, took: string) =>
      `Delivered: it answered ${status}${took === '' ? '' : ` after ${took}`}.`,
    refused: (status: string, took: string) =>
      `Not delivered: it answered ${status}${took === '' ? '' : ` after ${took}`}.`,
    unanswered: (code: string) => `Not delivered: ${code}.`,
    answer: 'Its answer',
    noAnswer: 'The answer had no body.',
    open: 'Open the delivery',
  },
  rotate: {
    title: 'Rotate the signing secret',
    intro: 'You get a new secret.',
    question: 'The old secret',
    inUse: 'My receiver still uses it',
    lost: 'It is lost, or somebody else may have it',
    overlap: 'Overlap',
    overlaps: [
      [86_400, '24 hours'],
      [3_600, '1 hour'],
      [604_800, '7 days'],
    ],
    intoOverlap:
      'Until the overlap ends, x-service-signature is made with the old one, and webhook-signature carries both, so that your receiver can accept either. Add the new secret beside the old one, and remove the old one when the overlap has ended.',
    noOverlap:
      'The old one ends now. Your receiver refuses everything until it has the new secret. Herald retries, so nothing is lost.',
    choose: 'Choose one: it decides when the old secret ends.',
    submit: 'Rotate',
    endsAt: (time: string) => `The old secret stays in force until ${time}.`,
    endsNow: 'The old secret is no longer in force.',
  },
  rotation: {
    running: 'The signing secret was rotated. The old one stays in force, and ends',
    until: 'Until then x-service-signature is made with the old one: a receiver that has only the new one answers 401.',
    end: 'End now',
    ended: 'The old secret has ended.',
  },
  disable: {
    title: 'Disable the receiver',
    intro:
      'Pending deliveries are canceled, and new ones are recorded as canceled. Enable it later and replay the time between: nothing is lost until records leave after some days.',
  },
  reason: 'Reason',
  reasonHint: 'Optional, at most 200 characters. The customer reads it.',
  lock: {
    title: 'Lock the receiver',
    intro:
      'It is disabled until an operator lifts the lock: its customer can’t enable or change it, and nothing is sent to it. He can still remove it, and register its URL again.',
  },
  pause: {
    title: 'Pause the receiver',
    intro:
      'What is sent to it waits and loses no try, redeliveries too, until an operator resumes it. Its customer can’t. Test events are sent.',
  },
  resume: {
    title: 'Resume the receiver',
    intro: 'What waits is sent now, in its order.',
  },
  unlock: {
    title: 'Lift the lock',
    intro:
      'This enables the receiver, also if its customer had disabled it before it was locked. From then on it is sent to; a replay brings back what it missed.',
  },
  remove: {
    title: 'Remove the receiver',
    intro: 'Its pending deliveries are canceled, and its signing secret is destroyed. This can’t be undone.',
    label: (host: string) => `Type ${host} to confirm`,
  },
  replay: {
    title: 'Replay deliveries',
    pendingTitle: 'Try all pending now',
    intro:
      'Sends deliveries again, with the same bytes under the same ids. They queue behind live ones. What was delivered stays so, at its time, and gets one attempt more.',
    introPending:
      'What is pending gets one more attempt now, beside its schedule: a failure leaves its next try as it is. They queue behind live ones. What is due, or waits for its turn in a Task, goes by itself; where the receiver is held back, one is tried at once, and with its success all go.',
    inZone: 'In your time zone.',
    inUtc: 'In UTC.',
    counting: 'Counting…',
    count: (count: number, isMore: boolean, receivers: number | undefined) =>
      count === 0 && !isMore
        ? 'None matches.'
        : `${isMore ? 'More than ' : ''}${count === 1 ? 'one delivery' : `${count} deliveries`}${receivers === undefined ? '' : ` to ${receivers === 1 ? 'one receiver' : `${receivers} receivers`}`} will be sent.`,
    leavesOut: 'Disabled receivers are left out.',
    submitPending: 'Try now',
    since: 'Accepted since',
    until: 'Until',
    untilHint: 'Empty: until now.',
    statuses: 'With status',
    chooseOne: 'Choose at least one status.',
    sinceMissing: 'Say since when.',
    order: 'The end must be later than the beginning.',
    submit: 'Replay',
    running: 'Replay running',
    queued: 'All are queued, not all are settled yet',
    done: 'Replay done',
    waiting: 'It waits:',
    stopped: 'Replay stopped',
    progress: (seen: number, total: number) => `${seen} of ${total} looked at`,
    replayed: (count: number) => (count === 1 ? 'one delivery is sent again' : `${count} deliveries are sent again`),
    stop: 'Stop',
    hide: 'Hide',
  },
  saved: 'Saved.',
  enabled: 'Enabled.',
  missed: 'It is sent to again. What it missed before was recorded as canceled or failed, and is not sent by itself.',
  replayMissed: 'Replay what it missed…',
  locked: 'Locked.',
  paused: 'Paused.',
  resumed: 'Resumed.',
  disabled: 'Disabled.',
  removed: 'Removed.',
} as const;
