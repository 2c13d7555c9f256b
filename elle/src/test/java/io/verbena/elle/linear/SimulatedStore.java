package io.verbena.elle.linear;

import io.verbena.elle.history.EventType;
import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryBuilder;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * A store used by several clients, in one thread and by seed: each operation takes effect at a random moment while it
 * is open, so that without a fault the history is linearizable. Written values are unique.
 */
final class SimulatedStore
{
    /** What the store may do wrong. */
    enum Fault
    {
        NONE, STALE_READ, LOST_UPDATE, SPLIT_BRAIN, DIRTY_READ, LOST_APPEND, DUPLICATED_APPEND
    }

    /** Which operations the clients call. */
    enum Workload
    {
        REGISTER, APPEND, VERSIONED, EVERYTHING
    }

    private static final int KEYS = 3;
    private static final int RARE = 12;

    private final SplittableRandom random;
    private final Fault fault;
    private final Workload workload;
    private final HistoryBuilder builder = new HistoryBuilder();
    private final Client[] clients;
    private final Map<String, Cell> store = new HashMap<>();
    private final Map<String, List<Cell>> past = new HashMap<>();
    private Map<String, Cell> otherSide;
    private long nextValue = 1;
    private long nextVersion = 1;

    private record Cell(Object value, long version)
    {
    }

    private static final class Client
    {
        private String f;
        private String key;
        private Object input;
        private Object output;
        private EventType outcome;
        private Object lastSeen;
        private Cell undo;
        private boolean isDone;
    }

    private SimulatedStore(final long seed, final Fault fault, final Workload workload, final int processes)
    {
        this.random = new SplittableRandom(seed);
        this.fault = fault;
        this.workload = workload;
        this.clients = new Client[processes];
        Arrays.setAll(clients, i -> new Client());
    }

    static History run(final long seed, final Fault fault, final Workload workload, final int operations)
    {
        final int processes = 2 + (int)(seed % 5);
        return new SimulatedStore(seed, fault, workload, processes).run(operations);
    }

    private History run(final int operations)
    {
        int begun = 0;
        for (int step = 0; step < 6 * operations; step++)
        {
            splitOrHeal(step, 6 * operations);
            final int process = random.nextInt(clients.length);
            final Client client = clients[process];
            if (client.f == null && begun < operations)
            {
                begun++;
                begin(process, client);
            }
            else if (client.f != null && !client.isDone)
            {
                client.isDone = true;
                takeEffect(process, client);
            }
            else if (client.f != null)
            {
                end(process, client);
            }
        }
        return builder.build();
    }

    private void splitOrHeal(final int step, final int steps)
    {
        if (fault == Fault.SPLIT_BRAIN)
        {
            if (step == steps / 3)
            {
                otherSide = new HashMap<>(store);
            }
            else if (step == 2 * steps / 3)
            {
                otherSide = null;
            }
        }
    }

    private void begin(final int process, final Client client)
    {
        client.key = "k" + random.nextInt(KEYS);
        client.isDone = false;
        client.undo = null;
        client.output = null;
        client.outcome = random.nextInt(RARE) == 0 ? EventType.INFO : EventType.OK;
        client.f = chooseFunction(client);
        client.input = switch (client.f)
        {
            case "put", "append", "put-if-absent" -> nextValue++;
            case "replace" -> Alphabet.pair(client.lastSeen, nextValue++);
            case "increment" -> 1L;
            default -> null;
        };
        builder.invoke(process, client.f, client.key, client.input);
    }

    private String chooseFunction(final Client client)
    {
        final List<String> functions = switch (workload)
        {
            case REGISTER -> List.of("get", "get", "put", "replace");
            case APPEND -> List.of("get", "append");
            case VERSIONED -> List.of("get", "get", "put", "replace", "put-if-absent", "delete");
            case EVERYTHING -> List.of("get", "exists", "put", "replace", "put-if-absent", "delete", "increment");
        };
        final String chosen = functions.get(random.nextInt(functions.size()));
        return chosen.equals("replace") && client.lastSeen == null ? "get" : chosen;
    }

    private void takeEffect(final int process, final Client client)
    {
        if (client.outcome == EventType.INFO && random.nextBoolean())
        {
            return;
        }
        final Map<String, Cell> side = otherSide != null && process % 2 == 1 ? otherSide : store;
        final Cell before = side.get(client.key);
        final Cell after = apply(client, before);
        final boolean changes = after != before;
        if (changes && fault == Fault.DIRTY_READ && random.nextInt(RARE) == 0)
        {
            client.undo = before == null ? new Cell(null, 0) : before;
            client.outcome = EventType.FAIL;
        }
        if (changes && !isLost(client))
        {
            past.computeIfAbsent(client.key, key -> new ArrayList<>()).add(before);
            put(side, client.key, after);
        }
    }

    private boolean isLost(final Client client)
    {
        final boolean mayBeLost = fault == Fault.LOST_UPDATE ||
            fault == Fault.LOST_APPEND && client.f.equals("append");
        return mayBeLost && client.outcome == EventType.OK && random.nextInt(RARE) == 0;
    }

    private void end(final int process, final Client client)
    {
        if (client.undo != null)
        {
            put(store, client.key, client.undo.value == null ? null : client.undo);
        }
        // A client that heard nothing does not call again: the operation may have been lost or delivered.
        final Object told = client.outcome == EventType.OK ? client.output : null;
        builder.complete(process, client.outcome, told);
        if (client.outcome == EventType.OK && client.f.equals("get"))
        {
            client.lastSeen = workload == Workload.VERSIONED && told instanceof List<?> list ? list.get(1) : told;
        }
        client.f = null;
    }

    private static void put(final Map<String, Cell> side, final String key, final Cell cell)
    {
        if (cell == null)
        {
            side.remove(key);
        }
        else
        {
            side.put(key, cell);
        }
    }

    /** Answers the client and returns what the key holds afterwards; the same object if nothing changes. */
    private Cell apply(final Client client, final Cell before)
    {
        return switch (client.f)
        {
            case "get" ->
            {
                client.output = shown(read(client.key, before));
                yield before;
            }
            case "exists" ->
            {
                client.output = before != null;
                yield before;
            }
            case "append" -> appended(before, client.input);
            case "increment" -> increment(client, before);
            case "delete" ->
            {
                client.output = before != null;
                yield null;
            }
            default -> write(client, before);
        };
    }

    private Cell read(final String key, final Cell now)
    {
        final List<Cell> old = past.getOrDefault(key, List.of());
        return fault == Fault.STALE_READ && !old.isEmpty() && random.nextInt(RARE) == 0 ?
            old.get(random.nextInt(old.size())) : now;
    }

    private Object shown(final Cell cell)
    {
        if (cell == null)
        {
            return null;
        }
        return workload == Workload.VERSIONED ? Alphabet.pair(cell.value, cell.version) : cell.value;
    }

    private Cell write(final Client client, final Cell before)
    {
        final Object value;
        final boolean isAllowed;
        if (client.f.equals("replace"))
        {
            final Object expected = ((List<?>)client.input).get(0);
            value = ((List<?>)client.input).get(1);
            isAllowed = before != null &&
                (workload == Workload.VERSIONED ? expected.equals(before.version) : expected.equals(before.value));
        }
        else
        {
            value = client.input;
            isAllowed = client.f.equals("put") || before == null;
        }
        final Cell after = isAllowed ? new Cell(value, nextVersion++) : before;
        final Object done = workload == Workload.VERSIONED ? (Object)(nextVersion - 1) : (Object)true;
        client.output = isAllowed ? done : (Object)false;
        return after;
    }

    private Cell increment(final Client client, final Cell before)
    {
        final long sum = 1 + (before == null ? 0 : (Long)before.value);
        client.output = sum;
        return new Cell(sum, nextVersion++);
    }

    private Cell appended(final Cell before, final Object element)
    {
        final List<Object> list = new ArrayList<>(before == null ? List.of() : (List<?>)before.value);
        list.add(Objects.requireNonNull(element));
        if (fault == Fault.DUPLICATED_APPEND && random.nextInt(RARE) == 0)
        {
            list.add(element);
        }
        return new Cell(List.copyOf(list), nextVersion++);
    }
}
