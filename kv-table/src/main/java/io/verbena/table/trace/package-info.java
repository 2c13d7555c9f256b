/**
 * What single operations did, step by step, for whoever asks why one was slow. Must not know what the steps are.
 */
package io.verbena.table.trace;
