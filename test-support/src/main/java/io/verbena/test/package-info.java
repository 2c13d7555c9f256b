/**
 * What tests of several modules share: pages of formats, changed code, sync calls, damaged messages, unused ports.
 * Named by other modules in test scope only; must know none of them.
 */
package io.verbena.test;
