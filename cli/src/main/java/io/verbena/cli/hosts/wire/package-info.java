/**
 * Frames between emulated hosts: one that arrives at a port is sent on, or lost, repeated, damaged or held back as a
 * seed decides. Whole Ethernet frames, so that addresses, ports and check sums stay as the sender made them.
 */
package io.verbena.cli.hosts.wire;
