import { createDestinationGate, type DestinationGate, type Pass, type SendEnd } from './destination-gate.ts';

const CONCURRENCY = 40;
const HALF = CONCURRENCY / 2;
const SHARE = 8;
/** A failure is held against a destination for so long, in ms. */
const DOUBT_MS = 60_000;

function openGate({ concurrency = CONCURRENCY, share = SHARE } = {}) {
  let at = 1_000;
  const roomFor: string[] = [];
  const gate = createDestinationGate({ concurrency, share, now: () => at }, (destination) => {
    roomFor.push(destination);
  });
  const enter = (destination: string): Pass => {
    const pass = gate.enter(destination);
    if (!pass) throw new Error(`${destination} should have had room`);
    return pass;
  };
  return {
    gate,
    roomFor,
    enter,
    wait: (ms: number) => (at += ms),
    /** As many sends as there is room for, left in flight. */
    fill: (destination: string, most = 1_000) => fill(gate, destination, most),
    /** One send that ends after so long. */
    send(destination: string, end: SendEnd, tookMs = 10) {
      const pass = enter(destination);
      at += tookMs;
      gate.leave(pass, end);
    },
  };
}

function fill(gate: DestinationGate, destination: string, most: number): Pass[] {
  const passes: Pass[] = [];
  while (passes.length < most) {
    const pass = gate.enter(destination);
    if (!pass) break;
    passes.push(pass);
  }
  return passes;
}

describe('the share of one destination', () => {
  test.each<{ after: readonly SendEnd[]; share: number }>([
    { after: [], share: SHARE },
    { after: ['answered'], share: HALF },
    { after: ['unanswered'], share: SHARE / 2 },
    { after: ['unanswered', 'unanswered'], share: SHARE / 4 },
    { after: ['unanswered', 'unanswered', 'unanswered'], share: 1 },
    { after: Array<SendEnd>(20).fill('unanswered'), share: 1 },
    { after: ['unanswered', 'unsent', 'unsent'], share: SHARE / 2 },
    { after: ['unsent'], share: SHARE },
  ])('after $after it has room for $share at once', ({ after, share }) => {
    const { send, fill } = openGate();
    for (const end of after) send('a', end);
    expect(fill('a')).toHaveLength(share);
  });

  test.each<{ answers: number; share: number }>([
    { answers: 1, share: 2 },
    { answers: 3, share: 4 },
    { answers: 7, share: SHARE },
    { answers: 100, share: SHARE },
  ])(
    'after it fell to one, $answers answers raise it to $share, seen while the worker is busy',
    ({ answers, share }) => {
      const { send, fill } = openGate();
      for (let count = 0; count < 5; count++) send('a', 'unanswered');
      for (let count = 0; count < answers; count++) send('a', 'answered');
      // From half of the concurrency on, nobody gets more than its share.
      for (const other of ['b', 'c', 'd']) {
        send(other, 'answered');
        fill(other, SHARE);
      }
      expect(fill('a')).toHaveLength(share);
    },
  );

  test('a sound destination goes beyond its share only while less than half of the concurrency is busy', () => {
    const { gate, send, fill } = openGate();
    for (const each of ['a', 'b']) send(each, 'answered');
    expect(fill('a')).toHaveLength(HALF);
    expect(gate.inFlight()).toBe(HALF);
    expect(fill('b')).toHaveLength(SHARE);
  });

  test('what was let in beyond the share doesn’t let more in when a part of it ends', () => {
    const { gate, send, fill } = openGate();
    for (const each of ['a', 'b']) send(each, 'answered');
    const passes = fill('a');
    fill('b');
    for (const pass of passes.slice(0, SHARE)) gate.leave(pass, 'answered');
    expect(gate.enter('a')).toBeUndefined();
  });

  test('a send is counted out once, however often it is left', () => {
    const { gate, enter } = openGate();
    const pass = enter('a');
    enter('a');
    gate.leave(pass, 'answered');
    gate.leave(pass, 'answered');
    expect(gate.inFlight()).toBe(1);
  });
});

describe('doubtful destinations together get half of the concurrency', () => {
  type Make = (gate: ReturnType<typeof openGate>, destination: string) => void;
  test.each<{ why: string; make: Make }>([
    { why: 'have not answered yet', make: () => undefined },
    {
      why: 'have failed lately',
      make: ({ send }, destination) => {
        send(destination, 'answered');
        send(destination, 'unanswered');
      },
    },
    {
      why: 'answer, but keep a send waiting far longer than usual',
      make: ({ send, enter, wait }, destination) => {
        send(destination, 'answered', 20);
        enter(destination);
        wait(8 * 20 + 1);
      },
    },
  ])('those that $why', ({ make }) => {
    const opened = openGate();
    const { gate, fill, send } = opened;
    send('sound', 'answered');
    const dead = Array.from({ length: 12 }, (_, index) => `dead-${index}`);
    for (const each of dead) make(opened, each);
    for (const each of dead) fill(each);
    expect(gate.inFlight()).toBe(HALF);
    // The other half is there for the rest.
    expect(fill('sound', SHARE)).toHaveLength(SHARE);
  });

  test.each([
    { usualMs: 5, waitedMs: 99, room: true },
    { usualMs: 5, waitedMs: 101, room: false },
    { usualMs: 2_000, waitedMs: 15_999, room: true },
    { usualMs: 2_000, waitedMs: 16_001, room: false },
  ])(
    'one whose answers take $usualMs ms and that has kept a send for $waitedMs ms goes beyond its share: $room',
    ({ usualMs, waitedMs, room }) => {
      const { gate, send, fill, wait } = openGate();
      send('a', 'answered', usualMs);
      fill('a', SHARE);
      wait(waitedMs);
      expect(gate.enter('a') !== undefined).toBe(room);
    },
  );

  test('an unusually slow one is sound again once the slow send is answered', () => {
    const { gate, enter, send, fill, wait } = openGate();
    send('a', 'answered');
    const slow = enter('a');
    wait(5_000);
    fill('a');
    expect(gate.inFlight()).toBe(SHARE);
    gate.leave(slow, 'answered');
    expect(gate.enter('a')).toBeDefined();
    expect(gate.enter('a')).toBeDefined();
  });

  test.each([
    { afterMs: DOUBT_MS - 100, room: SHARE / 2 },
    { afterMs: DOUBT_MS + 1, room: HALF },
  ])('a failure is forgotten with time: $afterMs ms later there is room for $room', ({ afterMs, room }) => {
    const { send, fill, wait } = openGate();
    send('a', 'answered');
    send('a', 'unanswered');
    wait(afterMs);
    expect(fill('a')).toHaveLength(room);
  });

  test('an answer of whatever kind ends the doubt at once', () => {
    const { gate, send } = openGate();
    send('a', 'unanswered');
    send('a', 'answered');
    for (let count = 0; count < SHARE / 2 + 2; count++) expect(gate.enter('a')).toBeDefined();
  });

  test('with a concurrency of one, everybody still gets a turn', () => {
    const { gate, enter } = openGate({ concurrency: 1, share: 10 });
    const pass = enter('a');
    expect(gate.enter('b')).toBeUndefined();
    gate.leave(pass, 'unanswered');
    expect(gate.enter('b')).toBeDefined();
  });
});

describe('whoever was refused is told when there is room', () => {
  test('one after the other, in the order in which they asked', () => {
    const { gate, fill, roomFor } = openGate();
    const passes = ['x', 'y', 'z'].flatMap((each) => fill(each));
    expect(passes).toHaveLength(HALF);
    for (const each of ['a', 'b', 'a', 'c']) expect(gate.enter(each)).toBeUndefined();
    for (const pass of passes.slice(-4)) gate.leave(pass, 'unsent');
    expect(roomFor.filter((each) => 'abc'.includes(each))).toEqual(['a', 'b', 'c']);
  });

  test('one that asks again in vain goes to the end', () => {
    const { gate, fill, roomFor } = openGate();
    const passes = [fill('x', SHARE), fill('y', SHARE), fill('z', HALF - 2 * SHARE)].flat();
    gate.enter('a');
    gate.enter('b');
    const [first, second, third] = passes;
    if (!first || !second || !third) throw new Error('three were let in');
    gate.leave(first, 'unsent');
    expect(roomFor.at(-1)).toBe('a');
    // Somebody else is faster.
    expect(gate.enter('c')).toBeDefined();
    expect(gate.enter('a')).toBeUndefined();
    gate.leave(second, 'unsent');
    expect(roomFor.at(-1)).toBe('b');
    gate.leave(third, 'unsent');
    expect(roomFor.at(-1)).toBe('a');
  });

  test('also one that was refused for its own sends, as soon as one of them ends', () => {
    const { gate, fill, roomFor } = openGate();
    const [pass] = fill('a', SHARE);
    expect(gate.enter('a')).toBeUndefined();
    if (!pass) throw new Error('it was let in');
    gate.leave(pass, 'answered');
    expect(roomFor).toEqual(['a']);
    const [other] = fill('b', 1);
    if (!other) throw new Error('it was let in');
    gate.leave(other, 'answered');
    expect(roomFor).toEqual(['a']);
  });
});

test('what it remembers is bounded, and never forgets a destination with a send in flight', () => {
  const { gate, enter, send, wait } = openGate();
  const pass = enter('busy');
  for (let count = 0; count < 4; count++) send('failing', 'unanswered');
  for (let index = 0; index < 25_000; index++) {
    wait(1);
    send(`once-${index}`, 'answered', 0);
  }
  expect(gate.inFlight()).toBe(1);
  gate.leave(pass, 'answered');
  expect(gate.inFlight()).toBe(0);
  // Long unused, it was forgotten, and starts anew with its full share.
  expect(fill(gate, 'failing', 1_000)).toHaveLength(SHARE);
});
