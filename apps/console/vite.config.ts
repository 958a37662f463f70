import { defineConfig } from 'vite';
import { compressOutput } from './compress-output.ts';
import { preloadMain } from './preload-main.ts';

/** Where `npm run dev` finds the service. */
const SERVICE = process.env.HERALD_URL ?? 'http://127.0.0.1:8080';
const PASSED_ON = ['/api', '/tasks', '/errors', '/docs', '/admin/queues'];

export default defineConfig({
  root: import.meta.dirname,
  resolve: { conditions: ['source', 'module', 'browser', 'development|production'] },
  plugins: [preloadMain(), compressOutput()],
  build: {
    assetsDir: 'console/assets',
    // The Content Security Policy allows no `data:` scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: false,
    // On a slow machine it would be the first that `npm start` says.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  server: { proxy: Object.fromEntries(PASSED_ON.map((path) => [path, { target: SERVICE }])) },
});
