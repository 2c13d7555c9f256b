/**
 * How a call ends. Must not know how calls are made.
 */
package io.verbena.raas.rpc;
