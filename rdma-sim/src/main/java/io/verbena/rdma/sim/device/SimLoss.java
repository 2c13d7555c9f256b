package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.spi.QueuePairStates;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Messages that get lost: of unreliable queue pairs, wholly or after some packets; responses of reliable ones. */
final class SimLoss
{
    private static final long PARTS = 1_000_000;
    private static final int MIN_PACKET_BYTES = 256;
    private static final int MOST_REPEATS = 6;

    private SimLoss()
    {
    }

    /** Whether a datagram is lost. */
    static boolean isLost(final SimQueuePair sender)
    {
        final double probability = sender.device().fabric().options().lossProbability();
        return probability > 0 &&
            sender.decide(SimDecision.LOSS, PARTS) >= PARTS - Math.round(probability * PARTS);
    }

    /** Whether the response to a request is lost; never so often that the retries would be over. */
    static boolean isResponseLost(final SimQueuePair requester, final SimRequest request)
    {
        final double probability = requester.device().fabric().options().responseLossProbability();
        return probability > 0 && requester.type() == QueuePairType.RC && request.repeats < MOST_REPEATS &&
            requester.decide(SimDecision.RESPONSE_LOSS, PARTS) >= PARTS - Math.round(probability * PARTS);
    }

    /** Whether a UC message is lost; then packets before the lost one are placed, as many as were decided. */
    static boolean isLost(final SimQueuePair sender, final SimQueuePair peer, final SimRequest request)
    {
        if (!isLost(sender))
        {
            return false;
        }
        final int packetBytes = Math.max(MIN_PACKET_BYTES, sender.attributes().pathMtuBytes());
        final int packets = Math.max(1, (request.lengthBytes + packetBytes - 1) / packetBytes);
        final int arrivedBytes = (int)sender.decide(SimDecision.LOST_PACKET, packets) * packetBytes;
        final boolean isTaken = peer != null && QueuePairStates.servesInbound(peer.state()) &&
            !peer.device().isKilled() && peer.accepts(request);
        if (arrivedBytes > 0 && isTaken)
        {
            place(peer, request, arrivedBytes);
        }
        return true;
    }

    private static void place(final SimQueuePair peer, final SimRequest request, final int arrivedBytes)
    {
        if (request.operation != WorkRequest.WRITE)
        {
            SimReceiver.spoil(peer, request, arrivedBytes);
        }
        else if (SimAccess.check(peer, request) == WorkCompletionStatus.SUCCESS)
        {
            MemorySegment.copy(
                request.payload, 0, SimAccess.memory(peer, request), ValueLayout.JAVA_BYTE, 0, arrivedBytes);
            peer.device().fabric().trace().mix(request.payload, 0, arrivedBytes);
        }
    }
}
