import { relative } from 'node:path';
import { LOCAL_OPERATOR, type LocalHerald } from './start-local-herald.ts';

/** Addresses and commands of the running service. Every command can be copied unchanged. */
export function toInstructions(herald: LocalHerald): string {
  const { dir, apiUrl, workerUrl, redisUrl, board, consoleUrl, adminUrl, apiKey, executorKey } = herald;
  const post = (path: string, body: object) =>
    `curl -sS -X POST ${apiUrl}${path} -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  const createTask = post('/tasks', { input: { text: 'hello' } });
  const closeTask = post('/tasks/$id/close', { status: 'done' });
  const signIn =
    board.passwordFile === undefined
      ? 'credentials: yours, as the environment says'
      : `user ${LOCAL_OPERATOR}, password in ${nameOf(board.passwordFile)}`;
  return `
Herald is running.

  console       ${consoleUrl}   (signed in, for a day)
  operators     ${adminUrl}   (${signIn})
  API           ${apiUrl}   (described at ${apiUrl}/docs)
  worker        ${workerUrl}/readyz
  board         ${board.url}   (${signIn})
  Redis         ${redisUrl ?? 'yours, as the environment says'}
  API key       ${apiKey}   (workspace ws_local)
  executor key  ${executorKey}

See every event arrive, signed (in another terminal):

  npm run demo

Bring every event to a program of yours on this machine, signed (in another terminal):

  npx --no-install herald-receiver listen --api ${apiUrl} --key ${apiKey} --forward-to http://localhost:3000/hooks/herald

Register a receiver, with a url of your own:

  ${post('/api/public/webhooks', { url: 'https://example.com/hooks/herald' })}

Create a Task and close it:

  id=$(${createTask} | node -pe 'JSON.parse(fs.readFileSync(0)).id') && ${closeTask}

Look after it as an operator does (the command finds this service by itself):

  npx --no-install herald doctor
  npx --no-install herald deliveries list --workspace ws_local

Ctrl-C stops all of it. Keys and data stay in ${nameOf(dir)}/ for the next start.
`;
}

function nameOf(path: string): string {
  return relative(process.cwd(), path);
}
