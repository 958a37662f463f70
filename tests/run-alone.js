import TestRunner from 'jest-runner';

/** Jest runs the projects of one runner after those of the other, and these tests one by one. */
export default class RunAlone extends TestRunner {
  isSerial = true;
}
