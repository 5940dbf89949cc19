// The types of the data that the scripts receive. This file is no part of a page: it is for readers and
// for type checkers. report/page_data.py has the same types and says what each field means; a test
// compares the two.

/**
 * @typedef {object} PageData
 * @property {string[]} runs
 * @property {string[]} queries
 * @property {string[]} measures
 * @property {number[]} directions
 * @property {number | null} baseline
 * @property {(number | null)[][][]} values
 * @property {(number | null)[][]} means
 * @property {(number | null)[][]} low
 * @property {(number | null)[][]} high
 * @property {number} level
 * @property {(number | null)[] | null} judged
 * @property {((number | null)[] | null)[] | null} chance
 * @property {((number | null)[][] | null)[] | null} bounds
 * @property {(boolean[] | null)[]} settled
 * @property {PagePairs} pairs
 * @property {((number | null)[] | null)[] | null} expected
 * @property {((string | null)[] | null)[] | null} types
 * @property {(string | null)[] | null} queryTexts
 * @property {PageRankings | null} rankings
 * @property {PageAgreement | null} agreement
 * @property {PagePower[] | null} power
 * @property {PageSwaps[] | null} swaps
 * @property {string[]} added
 * @property {PageProvenance} how
 */

/**
 * @typedef {object} PagePairs
 * @property {string} test
 * @property {string} correction
 * @property {(number | null)[][]} difference
 * @property {(number | null)[][]} p
 * @property {(number | null)[][]} corrected
 * @property {(number | null)[][]} wins
 * @property {(number | null)[][]} ties
 * @property {(number | null)[][]} losses
 */

/**
 * @typedef {object} PageRankings
 * @property {number} depth
 * @property {string[]} documents
 * @property {(string | null)[] | null} texts
 * @property {number[][][]} lists
 * @property {Record<string, number>[]} labels
 * @property {PageOmissions} left
 */

/**
 * @typedef {object} PageOmissions
 * @property {number} documents
 * @property {number} texts
 */

/**
 * @typedef {object} PageAgreement
 * @property {string[]} measures
 * @property {(number | null)[][]} tau
 */

/**
 * @typedef {object} PagePower
 * @property {string} measure
 * @property {number} significant
 * @property {number} pairs
 * @property {number} share
 */

/**
 * @typedef {object} PageSwaps
 * @property {string} measure
 * @property {number | null} rate
 * @property {number | null} low
 * @property {number | null} high
 */

/**
 * @typedef {object} PageProvenance
 * @property {string[][]} facts
 * @property {string[]} notes
 * @property {string[]} warnings
 * @property {string[]} left
 */
