package io.verbena.resp;

import io.verbena.resp.codec.MemoryBudget;
import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.command.Commands;
import io.verbena.resp.session.Command;
import io.verbena.resp.session.CommandTable;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.SessionSettings;
import io.verbena.resp.session.SessionState;
import io.verbena.resp.session.Transport;
import io.verbena.resp.session.Worker;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sessions that are sent whatever a seed says, beside one that behaves. {@code -Dverbena.fuzz.frames=10000000} for long
 * runs.
 */
class RespFuzzTest
{
    private static final long FRAMES = Long.getLong("verbena.fuzz.frames", 100_000);
    private static final int MAX_COMMAND = 256 << 10;
    private static final int SESSIONS = 8;
    /** Frames after which a client leaves, on average. */
    private static final int MEAN_FRAMES = 200;
    private static final long BUDGET = 64L << 20;
    private static final List<String> WORDS = List.of("NX", "XX", "GET", "EX", "MATCH", "COUNT", "TYPE", "AUTH",
        "SETNAME", "INFO", "DOCS", "PX", "EXAT", "PXAT", "KEEPTTL", "PERSIST", "GT", "LT");

    private final MapEndpoint endpoint = new MapEndpoint(1, true);
    /** Checks of secrets add to it from a thread of their own. */
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final MemoryBudget budget = new MemoryBudget(BUDGET);
    private final CommandTable<Session> commands = Commands.table();
    private final Worker worker = new Worker(endpoint, () -> 0, () -> { }, tasks::add, new FixedPort(),
        new SessionSettings("default", null, TimeUnit.SECONDS.toNanos(5), MAX_COMMAND, 1 << 20, 0, false));
    private final List<Command<Session>> known = new ArrayList<>(commands.commands());
    private long ids;

    private final class Client implements Transport
    {
        private final StringBuilder sent = new StringBuilder();
        private final boolean keepsWhatIsSent;
        private boolean isOver;
        private final Session session;

        Client(final boolean keepsWhatIsSent)
        {
            this.keepsWhatIsSent = keepsWhatIsSent;
            session = new Session(worker, commands, this, new SessionState(++ids, 0, "default", false),
                budget.share());
        }

        void feed(final byte[] bytes)
        {
            final RespDecoder decoder = session.arguments();
            if (!isOver && decoder.reserve(bytes.length))
            {
                System.arraycopy(bytes, 0, decoder.array(), decoder.arrayOffset(), bytes.length);
                decoder.received(bytes.length);
                session.onReceived();
                run();
            }
            else
            {
                isOver = true;
            }
        }

        @Override
        public void send(final byte[] bytes, final int lengthBytes)
        {
            if (keepsWhatIsSent)
            {
                sent.append(new String(bytes, 0, lengthBytes, StandardCharsets.ISO_8859_1));
            }
        }

        @Override
        public boolean isWritable()
        {
            return true;
        }

        @Override
        public void read(final boolean isWanted)
        {
            // The test feeds it all the same.
        }

        @Override
        public void closeAfterSending()
        {
            isOver = true;
        }

        @Override
        public void close()
        {
            isOver = true;
        }

        @Override
        public Future<?> schedule(final long delayNs, final Runnable task)
        {
            tasks.add(task);
            return new CompletableFuture<>();
        }

        @Override
        public String[] addresses()
        {
            return new String[]{"here", "there"};
        }
    }

    private void run()
    {
        Runnable next;
        while (null != (next = tasks.poll()))
        {
            next.run();
        }
    }

    @Test
    @Timeout(value = 2, unit = TimeUnit.HOURS)
    void shouldServeOthersWhateverSomeSend()
    {
        final Random random = new Random(FRAMES);
        final Client[] clients = new Client[SESSIONS];
        final Client witness = new Client(true);
        long replaced = 0;
        long most = 0;
        for (long i = 0; i < FRAMES; i++)
        {
            final int chosen = random.nextInt(SESSIONS);
            // Some leave in the middle of a command: an argument of 512 MiB would swallow all frames that follow.
            if (null == clients[chosen] || clients[chosen].isOver || 0 == random.nextInt(MEAN_FRAMES))
            {
                if (null != clients[chosen])
                {
                    clients[chosen].session.onClosed();
                    replaced++;
                }
                clients[chosen] = new Client(false);
            }
            clients[chosen].feed(frame(random));
            most = Math.max(most, budget.takenBytes());
            if (0 == i % 100)
            {
                witness.sent.setLength(0);
                witness.feed(RawClient.command("SET witness " + i).getBytes(StandardCharsets.ISO_8859_1));
                witness.feed(RawClient.command("GET witness").getBytes(StandardCharsets.ISO_8859_1));
                final String text = Long.toString(i);
                assertThat(witness.sent.toString()).isEqualTo("+OK\r\n$" + text.length() + "\r\n" + text + "\r\n");
            }
        }
        for (final Client client : clients)
        {
            client.session.onClosed();
        }
        witness.session.onClosed();
        run();
        assertThat(replaced).isGreaterThan(FRAMES / 1_000);
        assertThat(most).isLessThan(SESSIONS * 5L * MAX_COMMAND);
        assertThat(budget.takenBytes()).isZero();
        assertThat(worker.underWay()).isZero();
    }

    private byte[] frame(final Random random)
    {
        final byte[] frame = switch (random.nextInt(12))
        {
            case 0 -> bytes(random, random.nextInt(60));
            case 1 -> ("*" + random.nextInt() + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
            case 2 -> ("*1\r\n$" + (random.nextLong() >>> random.nextInt(64)) + "\r\n")
                .getBytes(StandardCharsets.ISO_8859_1);
            case 3 -> "*1\r\n".repeat(1 + random.nextInt(1_000)).getBytes(StandardCharsets.ISO_8859_1);
            case 4 -> ("$" + random.nextInt(100_000) + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
            default -> command(random).getBytes(StandardCharsets.ISO_8859_1);
        };
        for (int changes = 0 == random.nextInt(20) ? random.nextInt(4) : 0; changes > 0 && frame.length > 0; changes--)
        {
            frame[random.nextInt(frame.length)] = (byte)random.nextInt(256);
        }
        return 0 == random.nextInt(20) ? Arrays.copyOf(frame, random.nextInt(frame.length + 1)) : frame;
    }

    private String command(final Random random)
    {
        final StringBuilder line = new StringBuilder(known.get(random.nextInt(known.size())).name());
        if (line.indexOf("QUIT") >= 0 || line.indexOf("FLUSHDB") >= 0 && 0 != random.nextInt(50))
        {
            return "PING\r\n";
        }
        for (int arguments = random.nextInt(5); arguments > 0; arguments--)
        {
            line.append(' ').append(switch (random.nextInt(9))
            {
                case 0 -> "<" + random.nextInt(40_000) + ">";
                case 1 -> "\"\"";
                case 2 -> Long.toString(random.nextLong() >> random.nextInt(64));
                case 3 -> WORDS.get(random.nextInt(WORDS.size()));
                case 4 -> "*?[a-".substring(0, 1 + random.nextInt(4));
                case 5 -> random.nextGaussian() + "e" + random.nextInt(400);
                default -> "key" + random.nextInt(50);
            });
        }
        return RawClient.command(line.toString());
    }

    private static byte[] bytes(final Random random, final int length)
    {
        final byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }
}
