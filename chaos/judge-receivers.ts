import type { Evidence } from './evidence.ts';

/** Receivers whose final state contradicts the answers to their changes. */
export function judgeReceivers({ endpoints, receivers: { shown, at } }: Evidence): string[] {
  const shownById = new Map(shown.map((receiver) => [receiver.id, receiver]));
  const known = new Set(endpoints.map(({ id }) => id));
  const unknown = shown.filter(({ id }) => !known.has(id)).map(({ id }) => `${id} exists, but was never registered`);
  const wrong = endpoints
    .filter(({ taskId }) => taskId === undefined)
    .flatMap(({ id, exists, enabled, events }) => {
      const receiver = shownById.get(id);
      if (!exists.possible(at, at).includes(receiver !== undefined))
        return [`${id} is ${receiver ? 'still there after its removal' : 'missing, but was never removed'}`];
      if (!receiver) return [];
      const violations: string[] = [];
      if (!enabled.possible(at, at).includes(receiver.enabled))
        violations.push(`${id} is ${receiver.enabled ? 'enabled' : 'disabled'}, which it was not when last changed`);
      const wanted = events.possible(at, at).map((names) => [...names].sort().join());
      const wants = [...receiver.events].sort().join();
      if (!wanted.includes(wants)) violations.push(`${id} wants ${wants}, and was told ${wanted.join(' or ')}`);
      return violations;
    });
  return [...unknown, ...wrong];
}
