package io.verbena.rdma.roce.interop;

import io.verbena.rdma.verbs.QueuePairType;

import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One of perftest's programs at Soft-RoCE, and our engine in the place of its other end. The one that listens over TCP
 * is the server; READs, atomics and all of the bandwidth programs are the client's requests.
 *
 * @param program    such as ib_read_lat.
 * @param type       of the queue pairs.
 * @param sizeBytes  of a message.
 * @param mtu        that we offer, {@code enum ibv_mtu}; the program takes the smaller one.
 * @param iterations 5 or more.
 */
record PerftestRun(String program, QueuePairType type, int sizeBytes, int mtu, int iterations)
{
    private static final int VERSION_BYTES = 16;
    private static final byte[] VERSION = Arrays.copyOf("6.06".getBytes(StandardCharsets.US_ASCII), VERSION_BYTES);
    private static final byte[] DONE = {'d', 'o', 'n', 'e', 0};
    private static final int REPORTED_LONGS = 5;
    private static final int WINDOW = 16;
    /** Of the own copy of what is written; beside the memory that the program reaches. */
    private static final long SOURCE = 0;
    private static final byte UNTOUCHED = (byte)0xEE;
    private static final int TIMEOUT = 18;
    private static final long REACHED_BYTES = 128 << 10;

    PerftestRun(final String program, final int sizeBytes, final int mtu, final int iterations)
    {
        this(program, QueuePairType.RC, sizeBytes, mtu, iterations);
    }

    String title()
    {
        return program + (isAtomic() ? "" : " -s " + sizeBytes) + " -c " + type + ", MTU " + (128 << mtu);
    }

    private boolean isAtomic()
    {
        return program.contains("atomic");
    }

    private boolean isSend()
    {
        return program.contains("send");
    }

    private boolean isWrite()
    {
        return program.contains("write");
    }

    /** Whether both sides look into memory for what the other one has written; then nobody says goodbye over TCP. */
    private boolean isByMemory()
    {
        return isWrite() && isLatency();
    }

    private boolean isLatency()
    {
        return program.endsWith("_lat");
    }

    private List<String> options(final String device, final int gidIndex)
    {
        final List<String> options = new ArrayList<>(List.of(program, "-F", "-d", device, "-x",
            Integer.toString(gidIndex), "-n", Integer.toString(iterations), "-u", Integer.toString(TIMEOUT)));
        if (!isAtomic())
        {
            options.addAll(List.of("-s", Integer.toString(sizeBytes)));
        }
        if (isSend() || isWrite())
        {
            options.addAll(List.of("-c", type.name()));
        }
        if (!isWrite())
        {
            // Sleeps for its completions, which the programs that write cannot: the guest has one processor.
            options.add("-e");
        }
        return options;
    }

    /** The program is the client. */
    void serve(final EngineSide ours, final String device, final int gidIndex)
    {
        prepare(ours);
        try (ForeignProgram client = ForeignProgram.connecting(ours, options(device, gidIndex));
            ProgramQueuePair queuePair = new ProgramQueuePair(ours, type))
        {
            for (final byte[] parameter : parameters())
            {
                client.read(parameter.length);
                client.write(parameter);
            }
            answerKeys(client, queuePair, true);
            for (int i = 1; i < keysBefore(); i++)
            {
                answerKeys(client, queuePair, false);
            }
            if (isSend())
            {
                exchangeSends(ours, client, queuePair, false);
            }
            else if (isByMemory())
            {
                exchangeWrites(ours, client, queuePair, true);
            }
            if (!isLatency() && !isSend())
            {
                answerKeys(client, queuePair, false);
                for (int i = 0; i < REPORTED_LONGS; i++)
                {
                    client.write(client.read(Long.BYTES));
                }
            }
            if (!isByMemory())
            {
                answerKeys(client, queuePair, false);
                client.read(DONE.length);
            }
            client.end();
            judge(ours);
        }
    }

    /** The program is the server. */
    void ask(final EngineSide ours, final String device, final int gidIndex)
    {
        prepare(ours);
        try (ForeignProgram server = ForeignProgram.listening(ours, options(device, gidIndex));
            ProgramQueuePair queuePair = new ProgramQueuePair(ours, type))
        {
            for (final byte[] parameter : parameters())
            {
                server.write(parameter);
                server.read(parameter.length);
            }
            sayKeys(server, queuePair, true);
            for (int i = 1; i < keysBefore(); i++)
            {
                sayKeys(server, queuePair, false);
            }
            if (isSend() && isLatency())
            {
                exchangeSends(ours, server, queuePair, true);
            }
            else if (isByMemory())
            {
                exchangeWrites(ours, server, queuePair, false);
            }
            else
            {
                request(ours, server, queuePair);
            }
            if (!isLatency() && !isSend())
            {
                sayKeys(server, queuePair, false);
                for (int i = 0; i < REPORTED_LONGS; i++)
                {
                    server.write(new byte[Long.BYTES]);
                    server.read(Long.BYTES);
                }
            }
            if (!isByMemory())
            {
                sayKeys(server, queuePair, false);
                server.write(DONE);
            }
            server.end();
        }
    }

    private void prepare(final EngineSide ours)
    {
        ours.wire.none();
        ours.polled.clear();
        ours.region().segment().fill(UNTOUCHED);
        if (isAtomic() || isByMemory())
        {
            ours.memory(ProgramQueuePair.SHARED, REACHED_BYTES).fill((byte)0);
        }
    }

    /** Version, buffers and cache lines, path MTU. */
    private List<byte[]> parameters()
    {
        return List.of(VERSION, new byte[]{0, 0, 0x10, 0}, new byte[]{0, 0, 0, 64}, new byte[]{(byte)('0' + mtu), 0});
    }

    /** How often both sides say the same before the first request; they wait for each other so. */
    private int keysBefore()
    {
        return isLatency() || isSend() ? 4 : 3;
    }

    private void answerKeys(final ForeignProgram client, final ProgramQueuePair queuePair, final boolean isFirst)
    {
        final byte[] message = client.read(QueuePairKeys.PERFTEST_BYTES);
        if (isFirst)
        {
            connect(queuePair, message);
        }
        client.write(queuePair.keys().toPerftest());
    }

    private void sayKeys(final ForeignProgram server, final ProgramQueuePair queuePair, final boolean isFirst)
    {
        server.write(queuePair.keys().toPerftest());
        final byte[] message = server.read(QueuePairKeys.PERFTEST_BYTES);
        if (isFirst)
        {
            connect(queuePair, message);
        }
    }

    private void connect(final ProgramQueuePair queuePair, final byte[] message)
    {
        queuePair.connect(QueuePairKeys.ofPerftest(message), 128 << mtu);
        for (int i = 0; isSend() && i < iterations; i++)
        {
            queuePair.receive(i, sizeBytes);
        }
    }

    /** SENDs of the client, which the server of a latency program answers one by one. */
    private void exchangeSends(
        final EngineSide ours, final ForeignProgram program, final ProgramQueuePair queuePair, final boolean isClient)
    {
        final int overhead = QueuePairType.UD == type ? ProgramQueuePair.GRH_BYTES : 0;
        final long receiveEnd = iterations;
        int received = 0;
        int sent = 0;
        int index = 0;
        while (received < iterations || isLatency() && sent < iterations)
        {
            if (isLatency() && sent < iterations && (isClient ? sent == received : sent < received))
            {
                queuePair.send(receiveEnd, SOURCE, sizeBytes);
                sent++;
            }
            final InteropSide.Completion completion = ProgramQueuePair.polled(ours, program, index++);
            if (receiveEnd != completion.wrId())
            {
                InteropPair.equal("receive", received, completion.wrId());
                InteropPair.equal("bytes", sizeBytes + overhead, completion.bytes());
                received++;
            }
        }
        while (index < received + sent)
        {
            ProgramQueuePair.polled(ours, program, index++);
        }
    }

    /** WRITEs whose last byte counts; the server begins. */
    private void exchangeWrites(
        final EngineSide ours, final ForeignProgram program, final ProgramQueuePair queuePair, final boolean isServer)
    {
        final long last = sizeBytes - 1;
        for (int i = 1; i <= iterations; i++)
        {
            final byte expected = (byte)(isServer ? i - 1 : i);
            if (!isServer || i > 1)
            {
                awaitByte(ours, program, last, expected);
            }
            ours.memory(SOURCE + last, 1).set(ValueLayout.JAVA_BYTE, 0, (byte)i);
            queuePair.write(i, SOURCE, sizeBytes);
            ProgramQueuePair.polled(ours, program, i - 1);
        }
        if (isServer)
        {
            awaitByte(ours, program, last, (byte)iterations);
        }
    }

    private static void awaitByte(
        final EngineSide ours, final ForeignProgram program, final long offset, final byte expected)
    {
        program.await("WRITE " + expected, () ->
            expected == ours.memory(ProgramQueuePair.SHARED + offset, 1).get(ValueLayout.JAVA_BYTE, 0));
    }

    /** All of a client's requests, one at a time or several outstanding. */
    private void request(final EngineSide ours, final ForeignProgram server, final ProgramQueuePair queuePair)
    {
        final int window = isLatency() ? 1 : WINDOW;
        long first = 0;
        for (int i = 0; i < iterations; i++)
        {
            if (i >= window)
            {
                ProgramQueuePair.polled(ours, server, i - window);
            }
            if (isAtomic())
            {
                queuePair.fetchAdd(i, SOURCE + (long)i * Long.BYTES, 1);
            }
            else if (isSend())
            {
                queuePair.send(i, SOURCE, sizeBytes);
            }
            else if (isWrite())
            {
                queuePair.write(i, SOURCE, sizeBytes);
            }
            else
            {
                queuePair.read(i, SOURCE + i % 2 * (ProgramQueuePair.SHARED / 2), sizeBytes);
            }
        }
        ProgramQueuePair.polled(ours, server, iterations - 1);
        for (int i = 0; i < iterations && isAtomic(); i++)
        {
            first = 0 == i ? ours.word(SOURCE) : first;
            InteropPair.equal("original " + i, first + i, ours.word(SOURCE + (long)i * Long.BYTES));
        }
        if (!isAtomic() && !isSend() && !isWrite())
        {
            final long differs = ours.memory(SOURCE, sizeBytes).mismatch(
                ours.memory(SOURCE + ProgramQueuePair.SHARED / 2, sizeBytes));
            InteropPair.equal("byte in which two READs differ", -1, differs);
        }
    }

    /** What the client has left in our memory. */
    private void judge(final EngineSide ours)
    {
        final long firstBytes = isByMemory() ? sizeBytes : 0;
        for (long i = firstBytes; i < ProgramQueuePair.SHARED; i++)
        {
            InteropPair.equal("byte " + i + ", which no request names", UNTOUCHED,
                ours.memory(i, 1).get(ValueLayout.JAVA_BYTE, 0));
        }
        if (isAtomic())
        {
            long sum = 0;
            for (long i = 0; i < REACHED_BYTES; i += Long.BYTES)
            {
                sum += ours.word(ProgramQueuePair.SHARED + i);
            }
            InteropPair.equal("sum of what was added", iterations, sum);
        }
        if (isWrite() && !isLatency())
        {
            long untouched = 0;
            for (long i = 0; i < sizeBytes; i++)
            {
                untouched += UNTOUCHED ==
                    ours.memory(ProgramQueuePair.SHARED + i, 1).get(ValueLayout.JAVA_BYTE, 0) ? 1 : 0;
            }
            if (2 * untouched > sizeBytes)
            {
                throw new AssertionError(untouched + " of " + sizeBytes + " bytes were not written");
            }
        }
    }
}
