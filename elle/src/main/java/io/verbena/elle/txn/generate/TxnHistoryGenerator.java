package io.verbena.elle.txn.generate;

import io.verbena.elle.history.EventType;
import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryBuilder;
import io.verbena.elle.txn.TxnWorkload;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Makes histories of a simulated transactional store, right ones and ones with a known {@link TxnFault}, for trying out
 * the checker and measuring it. In the end every key is read once more, so that a fault cannot hide. Not safe for use
 * by several threads.
 */
public final class TxnHistoryGenerator
{
    private static final int MAX_OPS = 4;
    private static final int KEYS_PER_FINAL_READ = 8;
    private static final int UNKNOWN_OUTCOMES_PER_1000 = 10;
    private static final int FAILURES_PER_1000 = 20;

    private final TxnWorkload workload;
    private final SplittableRandom random;
    private final HistoryBuilder history = new HistoryBuilder();
    private final TxnFaultyStore store;
    private final List<Client> clients = new ArrayList<>();
    private int[] keys = new int[10];
    private int[] writesLeft;
    private int keysMade;
    private int transactions = 1_000;
    private int writesPerKey = 100;
    private int faultsPer1000;
    private int processesMade;
    private long valuesMade;
    private int called;

    /**
     * Prepares a generator of 1,000 transactions by 10 processes over 10 keys at a time, of which each is given up
     * after 100 writes, without faults.
     *
     * @param workload what the transactions do.
     * @param seed     the same seed and settings make the same history.
     */
    public TxnHistoryGenerator(final TxnWorkload workload, final long seed)
    {
        this.workload = workload;
        random = new SplittableRandom(seed);
        store = new TxnFaultyStore(random);
        processes(10);
    }

    /**
     * Sets how many transactions there are, not counting the last reads.
     *
     * @param count at least 1.
     * @return this.
     */
    public TxnHistoryGenerator transactions(final int count)
    {
        transactions = count;
        return this;
    }

    /**
     * Sets how many transactions run at once.
     *
     * @param count at least 2.
     * @return this.
     */
    public TxnHistoryGenerator processes(final int count)
    {
        clients.clear();
        processesMade = 0;
        for (int i = 0; i < count; i++)
        {
            clients.add(new Client(processesMade++));
        }
        return this;
    }

    /**
     * Sets how many keys are in use at a time, and how often each is written before a new one takes its place.
     *
     * @param count  at least 2.
     * @param writes at least 1.
     * @return this.
     */
    public TxnHistoryGenerator keys(final int count, final int writes)
    {
        keys = new int[count];
        writesPerKey = writes;
        return this;
    }

    /**
     * Sets what the store does wrong.
     *
     * @param fault   of what kind.
     * @param per1000 how often, at each 1,000 transactions.
     * @return this.
     */
    public TxnHistoryGenerator fault(final TxnFault fault, final int per1000)
    {
        store.fault(fault);
        faultsPer1000 = per1000;
        return this;
    }

    /**
     * How often the store did something wrong: if never, the history is strict-serializable whatever the fault.
     *
     * @return the number of faults, once {@link #generate} has run.
     */
    public int faults()
    {
        return store.faults();
    }

    /**
     * Makes the history; can be called once.
     *
     * @return the history.
     */
    public History generate()
    {
        writesLeft = new int[keys.length];
        for (int i = 0; i < keys.length; i++)
        {
            replaceKey(i);
        }
        while (called < transactions || clients.stream().anyMatch(client -> client.plan != null))
        {
            step(clients.get(random.nextInt(clients.size())));
        }
        readAll();
        return history.build();
    }

    private void step(final Client client)
    {
        if (client.plan == null)
        {
            if (called < transactions)
            {
                callSome(client);
            }
        }
        else if (!client.plan.isExecuted())
        {
            execute(client);
        }
        else
        {
            complete(client, client.plan.isCalledFailed() ? EventType.FAIL : EventType.OK);
        }
    }

    private void callSome(final Client client)
    {
        final Client idle = clients.stream().filter(other -> other != client && other.plan == null).findAny()
            .orElse(null);
        final boolean wantsFault = idle != null && random.nextInt(1_000) < faultsPer1000;
        final TxnPlan faulty = wantsFault ?
            store.plan(workload, usableKey(), usableKey(), this::nextValue) : null;
        if (faulty == null)
        {
            call(client, randomPlan());
            return;
        }
        call(client, faulty);
        if (faulty.partner() != null)
        {
            call(idle, faulty.partner());
        }
    }

    private void execute(final Client client)
    {
        final int dice = random.nextInt(1_000);
        if (!client.plan.isFaulty() && dice < FAILURES_PER_1000)
        {
            complete(client, EventType.FAIL);
        }
        else if (!client.plan.isFaulty() && dice < FAILURES_PER_1000 + UNKNOWN_OUTCOMES_PER_1000)
        {
            if (random.nextBoolean())
            {
                store.executeRight(client.plan);
            }
            complete(client, EventType.INFO);
            // A process of unknown state is never used again.
            client.process = processesMade++;
        }
        else
        {
            store.execute(client.plan);
        }
    }

    private void call(final Client client, final TxnPlan plan)
    {
        client.plan = plan;
        history.invoke(client.process, "txn", null, plan.call());
        called++;
    }

    private void complete(final Client client, final EventType outcome)
    {
        history.complete(client.process, outcome, outcome == EventType.OK ? client.plan.result() : null);
        if (outcome == EventType.OK)
        {
            store.completed(client.plan);
        }
        client.plan = null;
    }

    private TxnPlan randomPlan()
    {
        final TxnPlan plan = new TxnPlan(workload);
        final int ops = 1 + random.nextInt(MAX_OPS);
        while (plan.count() < ops)
        {
            final int key = usableKey();
            if (random.nextBoolean())
            {
                plan.read(key);
                continue;
            }
            if (workload == TxnWorkload.RW_REGISTER && !plan.touches(key))
            {
                // Only a transaction that read a register first shows what its write came after.
                plan.read(key);
            }
            plan.write(key, nextValue());
        }
        return plan;
    }

    private long nextValue()
    {
        return ++valuesMade;
    }

    private int usableKey()
    {
        final int place = random.nextInt(keys.length);
        if (writesLeft[place]-- == 0)
        {
            replaceKey(place);
        }
        return keys[place];
    }

    private void replaceKey(final int place)
    {
        keys[place] = keysMade++;
        // About half of the uses are writes.
        writesLeft[place] = 2 * writesPerKey;
    }

    private void readAll()
    {
        final Client reader = new Client(processesMade++);
        for (int key = 0; key < keysMade; key += KEYS_PER_FINAL_READ)
        {
            final TxnPlan plan = new TxnPlan(workload);
            for (int i = key; i < Math.min(key + KEYS_PER_FINAL_READ, keysMade); i++)
            {
                plan.read(i);
            }
            call(reader, plan);
            store.executeRight(plan);
            complete(reader, EventType.OK);
        }
    }

    private static final class Client
    {
        private int process;
        private TxnPlan plan;

        private Client(final int process)
        {
            this.process = process;
        }
    }
}
