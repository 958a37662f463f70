import type { Schemas } from '../api/client.ts';
import { adminTexts } from '../texts/admin-texts.ts';
import { limitText, LONGEST_MS, percentText, roughDuration } from '../time/time-text.ts';
import { byteText, rateText } from './byte-text.ts';

type Overview = Schemas['Overview'];

const HOUR_S = 3_600;
const NOTHING = '–';

/** The numbers of this moment. */
export function Tiles({ overview: { now, redis } }: { readonly overview: Overview }) {
  const { tiles, hints, perSecond } = adminTexts;
  const ms = (value: number | undefined) => (value === undefined ? NOTHING : limitText(value, LONGEST_MS.arrival));
  return (
    <dl class="tiles">
      <Tile name={tiles.accepted} value={perSecond(rateText(now.acceptedPerSecond))} />
      <Tile name={tiles.delivered} value={perSecond(rateText(now.deliveredPerSecond))} />
      <Tile name={tiles.successRate} value={now.successRate === undefined ? NOTHING : percentText(now.successRate)} />
      <Tile name={tiles.p50} value={ms(now.arrivalP50Ms)} hint={hints.arrival} />
      <Tile name={tiles.p99} value={ms(now.arrivalP99Ms)} hint={hints.arrival} />
      <Tile name={tiles.oldest} value={now.oldestDueMs === undefined ? NOTHING : roughDuration(now.oldestDueMs)} />
      <Tile name={tiles.empty} value={emptyText(now.emptyInMs)} hint={hints.empty} />
      <Tile name={tiles.waiting} value={now.waiting.toLocaleString('en')} />
      <Tile name={tiles.active} value={now.active.toLocaleString('en')} />
      <Tile name={tiles.delayed} value={now.delayed.toLocaleString('en')} hint={hints.delayed} />
      <RedisTile redis={redis} />
    </dl>
  );
}

/** How long until nothing is due any more. */
export function emptyText(emptyInMs: number | undefined): string {
  if (emptyInMs === undefined) return adminTexts.notAtThisRate;
  return emptyInMs === 0 ? NOTHING : roughDuration(emptyInMs);
}

type TileProps = { readonly name: string; readonly value: string; readonly hint?: string; readonly note?: string };

function Tile({ name, value, hint, note }: TileProps) {
  return (
    <div class="tile" title={hint}>
      <dt>{name}</dt>
      <dd>
        {value}
        {note !== undefined && <small>{note}</small>}
      </dd>
    </div>
  );
}

/** How full Redis is, and when it will be full if it goes on like this. */
function RedisTile({ redis: { usedBytes, maxBytes, bytesPerSecond, fullInSeconds } }: Pick<Overview, 'redis'>) {
  const { tiles, redisOf, redisGrowth, redisFull } = adminTexts;
  if (usedBytes === undefined) return <Tile name={tiles.redis} value={NOTHING} />;
  const notes = [
    ...(bytesPerSecond === undefined ? [] : [redisGrowth(byteText(bytesPerSecond * HOUR_S))]),
    ...(fullInSeconds === undefined ? [] : [redisFull(roughDuration(fullInSeconds * 1_000))]),
  ];
  const value = maxBytes === undefined ? byteText(usedBytes) : redisOf(byteText(usedBytes), byteText(maxBytes));
  return <Tile name={tiles.redis} value={value} note={notes.join(', ')} />;
}
