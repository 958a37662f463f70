import { readFileSync } from 'node:fs';
import { GENERATED_FILES } from './generated-files.ts';

test.each(GENERATED_FILES.map((each) => each))(
  '$file.pathname is as the OpenAPI document says; npm run api:types writes it',
  async ({ file, render }) => {
    expect(readFileSync(file, 'utf8') === (await render())).toBe(true);
  },
);
