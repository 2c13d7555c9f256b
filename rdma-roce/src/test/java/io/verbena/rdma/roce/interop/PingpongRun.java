package io.verbena.rdma.roce.interop;

import io.verbena.rdma.verbs.QueuePairType;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * One of rdma-core's ping-pong programs at Soft-RoCE, and our engine in the place of its other end: each side sends
 * when it has received and its last SEND is done. The program's server judges the bytes that it got last.
 *
 * @param program    such as ibv_rc_pingpong.
 * @param type       of the queue pairs.
 * @param queuePairs how many; the program's share one receive queue when there are several.
 * @param sizeBytes  of a message.
 * @param exchanges  a side's SENDs, over all queue pairs.
 */
record PingpongRun(String program, QueuePairType type, int queuePairs, int sizeBytes, int exchanges)
{
    private static final byte[] DONE = {'d', 'o', 'n', 'e', 0};
    /** The program for several queue pairs always names as many, those that it has not got as 0. */
    private static final int NAMED = 256;
    private static final int MTU = 1024;
    private static final int PAGE_BYTES = 4096;
    private static final byte FILL = 0x7b;
    private static final long SEND = 1L << 32;
    private static final long RECEIVE = 1L << 33;

    String title()
    {
        return program + " -s " + sizeBytes + (queuePairs > 1 ? " -q " + queuePairs : "") + " -c";
    }

    private List<String> options(final String device, final int gidIndex)
    {
        final List<String> options = new ArrayList<>(List.of(program, "-d", device, "-g",
            Integer.toString(gidIndex), "-s", Integer.toString(sizeBytes), "-n", Integer.toString(exchanges)));
        if (queuePairs > 1)
        {
            options.addAll(List.of("-q", Integer.toString(queuePairs)));
        }
        // Judges bytes; sleeps for its completions, as the guest has one processor.
        options.addAll(List.of("-c", "-e"));
        return options;
    }

    void serve(final EngineSide ours, final String device, final int gidIndex)
    {
        prepare(ours);
        final List<ProgramQueuePair> own = new ArrayList<>();
        try (ForeignProgram client = ForeignProgram.connecting(ours, options(device, gidIndex)))
        {
            open(ours, own);
            connect(own, readKeys(client));
            writeKeys(client, own);
            client.read(DONE.length);
            exchange(ours, client, own, false);
            client.end();
            judge(ours, own.getFirst().receivedAt());
        }
        finally
        {
            own.forEach(ProgramQueuePair::close);
        }
    }

    void ask(final EngineSide ours, final String device, final int gidIndex)
    {
        prepare(ours);
        final List<ProgramQueuePair> own = new ArrayList<>();
        try (ForeignProgram server = ForeignProgram.listening(ours, options(device, gidIndex)))
        {
            open(ours, own);
            writeKeys(server, own);
            connect(own, readKeys(server));
            server.write(DONE);
            exchange(ours, server, own, true);
            server.end();
        }
        finally
        {
            own.forEach(ProgramQueuePair::close);
        }
    }

    /** Messages are sent from where they are received, so that what the client began with goes back and forth. */
    private void prepare(final EngineSide ours)
    {
        ours.wire.none();
        ours.polled.clear();
        ours.region().segment().fill(fill());
        final long begin = ProgramQueuePair.SHARED + (QueuePairType.UD == type ? ProgramQueuePair.GRH_BYTES : 0);
        for (int i = 0; i < sizeBytes; i += PAGE_BYTES)
        {
            ours.memory(begin + i, 1).set(ValueLayout.JAVA_BYTE, 0, (byte)0);
        }
    }

    /** What the programs fill their memory with before they mark the first byte of each page by 0. */
    private byte fill()
    {
        return queuePairs > 1 ? 0 : FILL;
    }

    private void open(final EngineSide ours, final List<ProgramQueuePair> own)
    {
        for (int i = 0; i < queuePairs; i++)
        {
            own.add(new ProgramQueuePair(ours, type));
        }
    }

    private int named()
    {
        return queuePairs > 1 ? NAMED : 1;
    }

    private List<QueuePairKeys> readKeys(final ForeignProgram program)
    {
        final List<QueuePairKeys> keys = new ArrayList<>();
        for (int i = 0; i < named(); i++)
        {
            final byte[] message = program.read(QueuePairKeys.PINGPONG_BYTES);
            if (i < queuePairs)
            {
                keys.add(QueuePairKeys.ofPingpong(message));
            }
        }
        return keys;
    }

    private void writeKeys(final ForeignProgram program, final List<ProgramQueuePair> own)
    {
        for (int i = 0; i < named(); i++)
        {
            program.write(own.get(Math.min(i, queuePairs - 1)).keys().toPingpong());
        }
    }

    private void connect(final List<ProgramQueuePair> own, final List<QueuePairKeys> peers)
    {
        for (int i = 0; i < queuePairs; i++)
        {
            own.get(i).connect(peers.get(i), MTU);
            for (int j = 0; j < Math.min(exchanges, ProgramQueuePair.RECEIVES); j++)
            {
                own.get(i).receive(RECEIVE + i, sizeBytes);
            }
        }
    }

    private void exchange(final EngineSide ours, final ForeignProgram program, final List<ProgramQueuePair> own,
        final boolean isClient)
    {
        final long[] pending = new long[queuePairs];
        for (int i = 0; i < queuePairs; i++)
        {
            pending[i] = RECEIVE;
            if (isClient)
            {
                send(own, i);
                pending[i] |= SEND;
            }
        }
        int sent = 0;
        int received = 0;
        for (int i = 0; sent < exchanges || received < exchanges; i++)
        {
            final InteropSide.Completion completion = ProgramQueuePair.polled(ours, program, i);
            final int which = (int)completion.wrId();
            final long kind = completion.wrId() & (SEND | RECEIVE);
            sent += SEND == kind ? 1 : 0;
            received += RECEIVE == kind ? 1 : 0;
            pending[which] &= ~kind;
            if (0 == pending[which] && sent < exchanges)
            {
                send(own, which);
                pending[which] = SEND | RECEIVE;
            }
        }
    }

    private void send(final List<ProgramQueuePair> own, final int which)
    {
        own.get(which).send(SEND + which, own.get(which).receivedAt(), sizeBytes);
    }

    private void judge(final EngineSide ours, final long begin)
    {
        for (int i = 0; i < sizeBytes; i++)
        {
            InteropPair.equal("byte " + i + " received", i % PAGE_BYTES == 0 ? 0 : fill(),
                ours.memory(begin + i, 1).get(ValueLayout.JAVA_BYTE, 0));
        }
    }
}
