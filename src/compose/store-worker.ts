// A thread of the served store of SQLite, put together: its reads, and the rule that makes the page of a search of them. scripts/build.js
// makes a file of its own of it.
import { searchPage } from '../local/search-page.ts';
import { answerOrders } from '../store/sqlite/store-worker.ts';

answerOrders(searchPage);
