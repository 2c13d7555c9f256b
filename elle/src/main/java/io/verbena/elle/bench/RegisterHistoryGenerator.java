package io.verbena.elle.bench;

import io.verbena.elle.history.EventType;
import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryBuilder;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Makes linearizable histories of registers: half reads, half unique writes, each operation taking effect at a random
 * moment while it is open. Deterministic by seed; not thread-safe.
 */
public final class RegisterHistoryGenerator
{
    private static final int PER_MILLE = 1_000;

    private final SplittableRandom random;
    private final int keys;
    private final Client[] clients;
    private int infoPerMille;
    private int valuesPerKey = Integer.MAX_VALUE;
    private boolean isBadAtEnd;

    /**
     * Prepares a generator without unknown outcomes.
     *
     * @param seed      the same seed and settings make the same history.
     * @param keys      registers, from 1.
     * @param processes operations open at the same time, from 1.
     */
    public RegisterHistoryGenerator(final long seed, final int keys, final int processes)
    {
        this.random = new SplittableRandom(seed);
        this.keys = keys;
        this.clients = new Client[processes];
    }

    /**
     * Lets some operations end without anybody knowing how; the client is then another process.
     *
     * @param perMille how many of a thousand.
     * @return this.
     */
    public RegisterHistoryGenerator unknownOutcomes(final int perMille)
    {
        infoPerMille = perMille;
        return this;
    }

    /**
     * Writes few different values instead of unique ones, which leaves more orders to be searched.
     *
     * @param count different values, from 1.
     * @return this.
     */
    public RegisterHistoryGenerator values(final int count)
    {
        valuesPerKey = count;
        return this;
    }

    /**
     * Adds a read of key 0 at the end that answers the first value that was written there, so that the history is bad
     * and the checker has to exclude every order.
     *
     * @return this.
     */
    public RegisterHistoryGenerator badAtEnd()
    {
        isBadAtEnd = true;
        return this;
    }

    /**
     * Makes a history.
     *
     * @param operations how many.
     * @return operations {@code read} and {@code write} with keys from 0.
     */
    public History generate(final int operations)
    {
        final HistoryBuilder history = new HistoryBuilder();
        final Long[] registers = new Long[keys];
        for (int i = 0; i < clients.length; i++)
        {
            clients[i] = new Client(i);
        }
        final List<Client> late = new ArrayList<>();
        Long firstWritten = null;
        int processes = clients.length;
        int called = 0;
        int open = 0;
        while (called < operations || open > 0)
        {
            final int i = random.nextInt(clients.length);
            final Client client = clients[i];
            if (client.stage == 0 && called < operations)
            {
                client.call(called++, history);
                firstWritten = firstWritten == null && client.key == 0 ? client.written : firstWritten;
                open++;
            }
            else if (client.stage > 0 && random.nextInt(2 * PER_MILLE) < infoPerMille)
            {
                // Each operation comes here twice: before and after its effect.
                open--;
                history.complete(client.process, EventType.INFO, null);
                if (client.stage == 1)
                {
                    late.add(client);
                }
                clients[i] = new Client(processes++);
            }
            else if (client.stage == 1)
            {
                client.takeEffect(registers);
            }
            else if (client.stage == 2)
            {
                open--;
                history.ok(client.process, client.answer());
                client.stage = 0;
            }
            takeEffectLate(late, registers);
        }
        if (isBadAtEnd)
        {
            history.invoke(processes, "read", 0L, null).ok(processes, firstWritten);
        }
        return history.build();
    }

    /** What nobody hears of any more may still happen; what waits at the end never does. */
    private void takeEffectLate(final List<Client> late, final Long[] registers)
    {
        if (!late.isEmpty() && random.nextInt(PER_MILLE) == 0)
        {
            late.removeLast().takeEffect(registers);
        }
    }

    private final class Client
    {
        private final int process;
        private int stage;
        private int key;
        private Long written;
        private Long seen;

        private Client(final int process)
        {
            this.process = process;
        }

        private void call(final long number, final HistoryBuilder history)
        {
            key = random.nextInt(keys);
            written = random.nextBoolean() ? Long.valueOf(number % valuesPerKey) : null;
            history.invoke(process, written == null ? "read" : "write", (long)key, written);
            stage = 1;
        }

        private void takeEffect(final Long[] registers)
        {
            stage = 2;
            seen = registers[key];
            if (written != null)
            {
                registers[key] = written;
            }
        }

        private Long answer()
        {
            return written == null ? seen : null;
        }
    }
}
