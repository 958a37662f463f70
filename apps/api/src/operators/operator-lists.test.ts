import { toWaitingRow } from './operator-lists.ts';

const NOW = Date.UTC(2030, 0, 1);
const WAITING = {
  group: 'wh_a',
  kind: 'receiver',
  waiting: 3,
  due: 2,
  inWork: 0,
  isOpen: false,
  isStopped: false,
  unanswered: 0,
} as const;

test.each([
  { what: 'an operator', state: { isStopped: true, isOpen: true }, why: 'An operator has paused it' },
  {
    what: 'an open breaker',
    state: { isOpen: true, unanswered: 7, heldUntil: NOW + 1 },
    why: 'It gave no answer 7 times in a row',
  },
  { what: 'a hold', state: { heldUntil: NOW + 1, due: 0 }, why: 'It asked to be left alone' },
  { what: 'a hold that is over', state: { heldUntil: NOW }, why: 'It waits for a free worker' },
  { what: 'its rate', state: { waitingForRate: 2 }, why: 'It gets no more a second' },
  { what: 'times to come', state: { due: 0, suspectUntil: NOW + 1 }, why: 'Nothing is due yet' },
  { what: 'suspicion', state: { suspectUntil: NOW + 1, inWork: 1 }, why: 'It gave no answer lately, or is slow' },
  { what: 'suspicion that is over', state: { suspectUntil: NOW, inWork: 1 }, why: 'Others of it are being sent' },
  { what: 'its limit', state: { inWork: 1 }, why: 'Others of it are being sent' },
  { what: 'nothing else', state: {}, why: 'It waits for a free worker' },
])('deliveries that wait because of $what say so', ({ state, why }) => {
  expect(toWaitingRow({ ...WAITING, ...state }, NOW).why).toContain(why);
});
