import { Registry } from '@prometheus-io/client';
import { createKeyMetrics } from './metrics.ts';

test('herald_executor_key_ends_seconds shows the executor key that ends first, of those in use', async () => {
  const registry = new Registry();
  let now = 1_000_000;
  const { used } = createKeyMetrics(registry, () => now);
  const shown = async () => /^herald_executor_key_ends_seconds (\S+)$/m.exec(await registry.metrics())?.[1];
  await expect(shown()).resolves.toBeUndefined();
  used({ id: 'key_1', scopes: ['execute'] });
  used({ id: 'key_2', scopes: ['tasks'], expiresAt: now + 1_000 });
  await expect(shown()).resolves.toBeUndefined();
  used({ id: 'key_3', scopes: ['execute'], expiresAt: now + 90_000 });
  used({ id: 'key_4', scopes: ['execute'], expiresAt: now + 60_000 });
  await expect(shown()).resolves.toBe('60');
  now += 3_600_001;
  used({ id: 'key_3', scopes: ['execute'], expiresAt: now + 50_000 });
  await expect(shown()).resolves.toBe('50');
});
