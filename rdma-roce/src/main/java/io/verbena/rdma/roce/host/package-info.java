/**
 * The provider {@code soft} with a network: devices whose peers of the same host are reached by shared memory and all
 * others by RoCEv2. Owns which way a queue pair takes, and that both ways see the same regions, windows and numbers.
 * Must not know how either way carries a message.
 */
package io.verbena.rdma.roce.host;
