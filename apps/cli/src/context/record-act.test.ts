import { systemUser } from './record-act.ts';

test('a user of the system without a name is told by its number', () => {
  expect(systemUser(() => ({ username: 'ann' }))).toBe('ann');
  const nameless = () => {
    throw new Error('A system error occurred: uv_os_get_passwd returned ENOENT');
  };
  expect(systemUser(nameless)).toBe(`uid ${process.getuid?.()}`);
});
