package io.verbena.load.wire;

import io.verbena.rdma.roce.engine.RoceQueuePair;
import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

/** A device that writes all the time to one on the other side, until a WRITE fails. One thread. */
final class SharedLinkSender implements AutoCloseable
{
    private static final int WRITE_BYTES = 16 << 10;
    private static final int OUTSTANDING = 8;
    private static final int NUMBERS_WORD = 3;

    private final EngineSide side;
    private final WorkCompletions batch = new WorkCompletions(OUTSTANDING);
    private long remoteAddress;
    private int remoteKey;
    private long writtenBytes;
    private long failedCount;

    SharedLinkSender(final UdpPort port, final int windowPackets, final int lostPerThousand, final long seed)
    {
        side = new EngineSide(port, LossyPort.of(port, lostPerThousand, seed), windowPackets, 1);
    }

    /** Connects with the receiver's queue pair {@code index}; returns the command that connects that one. */
    String connect(final int index, final DeviceAddress receiver, final String[] greeting, final int pathMtuBytes)
    {
        remoteAddress = Long.parseLong(greeting[1]) + (long)index * WRITE_BYTES;
        remoteKey = Integer.parseInt(greeting[2]);
        side.connect(0, receiver, new int[] {Integer.parseInt(greeting[NUMBERS_WORD + index])}, pathMtuBytes);
        for (int i = 0; i < OUTSTANDING; i++)
        {
            post();
        }
        return side.connectCommand(index, pathMtuBytes);
    }

    private void post()
    {
        final RoceQueuePair queuePair = side.queuePairs[0];
        queuePair.begin();
        queuePair.write(0, SendFlags.SIGNALED, side.region.address(), WRITE_BYTES, side.region.localKey(),
            remoteAddress, remoteKey);
        queuePair.complete();
    }

    void work()
    {
        side.work();
        final int polled = side.completions.poll(batch);
        for (int i = 0; i < polled; i++)
        {
            if (batch.status(i) != WorkCompletionStatus.SUCCESS)
            {
                failedCount++;
                note(batch.status(i));
            }
            else
            {
                writtenBytes += WRITE_BYTES;
                post();
            }
        }
    }

    /** Of those that failed the first one says why, the others were flushed. */
    private void note(final int status)
    {
        if (failedCount == 1)
        {
            System.out.println(
                WireFigure.NOTE + "a WRITE failed: " + WorkCompletionStatus.text(status) + ", " + side);
        }
    }

    /** WRITEs that failed. */
    long failedCount()
    {
        return failedCount;
    }

    @Override
    public void close()
    {
        side.port.close();
    }

    /** Bytes of the WRITEs that were acknowledged. */
    long writtenBytes()
    {
        return writtenBytes;
    }
}
