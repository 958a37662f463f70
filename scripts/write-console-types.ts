import { writeFileSync } from 'node:fs';
import { API_TYPES_FILE, renderApiTypes } from './console/render-api-types.ts';

writeFileSync(API_TYPES_FILE, await renderApiTypes());
