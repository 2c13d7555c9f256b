package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.verbs.QueuePairType;

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
    static boolean isLost(final SimRequest.Requester sender)
    {
        final double probability = sender.host().timeline().options().lossProbability();
        return probability > 0 &&
            sender.decide(SimDecision.LOSS, PARTS) >= PARTS - Math.round(probability * PARTS);
    }

    /** Whether the response to a request is lost; never so often that the retries would be over. */
    static boolean isResponseLost(final SimRequest.Requester requester, final SimRequest request)
    {
        final double probability = requester.host().timeline().options().responseLossProbability();
        return probability > 0 && requester.type() == QueuePairType.RC &&
            request.retries.lostResponses() < MOST_REPEATS &&
            requester.decide(SimDecision.RESPONSE_LOSS, PARTS) >= PARTS - Math.round(probability * PARTS);
    }

    /** Whether a UC message is lost; then packets before the lost one are placed, as many as were decided. */
    static boolean isLost(final SimRequest.Requester sender, final int pathMtuBytes, final SimRequest request)
    {
        if (!isLost(sender))
        {
            return false;
        }
        final int packetBytes = Math.max(MIN_PACKET_BYTES, pathMtuBytes);
        final int packets = Math.max(1, (request.lengthBytes + packetBytes - 1) / packetBytes);
        final int arrivedBytes = (int)sender.decide(SimDecision.LOST_PACKET, packets) * packetBytes;
        final SimRequest.Executor peer = request.connection.executor();
        if (arrivedBytes > 0 && peer != null)
        {
            peer.placePart(request, arrivedBytes);
        }
        return true;
    }
}
