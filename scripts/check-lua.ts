import { readFileSync } from 'node:fs';
import { findScripts } from '../tests/integration/every-script/find-scripts.ts';
import { collectLua } from './lua/collect-lua.ts';
import { findLuaFaults } from './lua/find-lua-faults.ts';
import { findPrivateKeys } from './lua/find-private-keys.ts';

// `npm run check:lua`: every script as Redis gets it, and which keys of the queue are named outside of its package.
const collected = await collectLua();
const { createQueueKeys } = await import('@herald/queue'); // a module that was loaded before keeps its texts to itself
const { createDeliveryQueueScripts } = await import('@herald/store/deliveries/delivery-scripts');
const { loadLua } = createDeliveryQueueScripts();
const scripts = findScripts().map(({ name, file }) => {
  const found = collected.get(file)?.get(name.replace(/ of .*/, ''));
  if (found === undefined) throw new Error(`${file} has no text of the name ${name}`);
  // Those of the queue that give a worker jobs have the owner's part in them, which reads the jobs.
  return { name: `${name} (${file})`, lua: typeof found === 'string' ? found : found(loadLua) };
});
const outside = [...collected.keys()].filter((file) => !file.startsWith('packages/queue/'));
const faults = [
  ...findLuaFaults(scripts),
  ...outside.flatMap((file) =>
    findPrivateKeys(readFileSync(file, 'utf8'), createQueueKeys('')).map((fault) => `${file}: ${fault}`),
  ),
];
console.log(`lua: ${scripts.length} scripts`);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
