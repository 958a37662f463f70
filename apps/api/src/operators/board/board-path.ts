/** Where the board is. */
export const BOARD_PATH = '/admin/queues';
