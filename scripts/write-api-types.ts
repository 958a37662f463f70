import { writeFileSync } from 'node:fs';
import { GENERATED_FILES } from './api-types/generated-files.ts';

for (const { file, render } of GENERATED_FILES) writeFileSync(file, await render());
