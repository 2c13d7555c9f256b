/**
 * The protocol of RoCEv2: requesters and responders of RC, UC and UD queue pairs. Packets come in by
 * {@link io.verbena.rdma.roce.engine.RoceEngine#onPacket}, go out through a
 * {@link io.verbena.rdma.roce.wire.PacketSink}, and time is a clock that is handed in: so the same code runs on a
 * socket and in a simulation. One thread at a time drives an engine, as an
 * {@link io.verbena.rdma.roce.engine.EngineDriver} decides; others post and poll meanwhile without a lock. Nothing
 * allocates once the objects are made. Knows nothing of sockets or processes. {@code docs/providers/roce.md} has what
 * is missing.
 */
package io.verbena.rdma.roce.engine;
