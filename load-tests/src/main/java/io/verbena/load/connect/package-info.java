/** What it costs to reach a peer: one that is known, one that is not, and with queue pairs made for it. */
package io.verbena.load.connect;
