package io.verbena.table;

import io.verbena.elle.history.EventType;
import io.verbena.elle.history.HistoryBuilder;
import io.verbena.elle.linear.LinearChecker;
import io.verbena.elle.linear.LinearOptions;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Models;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Random operations on a few keys, recorded as a history. Every 8-byte word of a value is the number of its write, so
 * that a torn or mixed value is told at once, whatever the history says; so is a version that was given twice. With
 * increments among the kinds, values are numbers instead, in the forms of {@link Numbers}.
 */
final class RaceWorkload
{
    private static final int VALUE_MIN_BYTES = 72;
    private static final int VALUE_SPREAD = 48;
    private static final LinearChecker<?> CHECKER = new LinearChecker<>(
        Models.versionedKvMap(), LinearOptions.defaults().withTimeoutNs(TimeUnit.SECONDS.toNanos(20)).withThreads(1));

    private final RandomGenerator random;
    private final List<byte[]> keys;
    private final int[] kinds;
    private final int operations;
    private final String name;
    private final HistoryBuilder history;
    private final boolean isCounting;
    private final Set<Long> appended = new HashSet<>();
    private final List<List<Long>> versions = new ArrayList<>();
    private final Set<String> issued = new HashSet<>();
    private long nextValue = 1;
    private int begun;
    private int nextProcess;
    private String damage;
    private final Symptoms symptoms = new Symptoms();
    private final List<Clients> all = new ArrayList<>();
    private final List<Scan> scans = new ArrayList<>();
    /** Goes on with each beginning and end. */
    private long events;
    /** Whether operations of unknown outcome are begun again, up to three times. */
    boolean isRepeating;
    /** In which forms numbers are written. */
    Numbers numbers = Numbers.BYTES;
    /** By {@link Symptoms}, not by the checker. */
    boolean isJudgedByRulesOnly;
    /** Of records that live until one; null: none does. Rules do not know of them, the checker does. */
    Deadlines deadlines;
    /** Records that scans have given. */
    long scanned;
    /** Results of operations that were begun again. */
    final long[] repeated = new long[OperationResult.COUNT];

    /** Clients of one engine; each has one operation under way at most. */
    final class Clients
    {
        private final int[] processes;
        private final int[] keyOf;
        private final int[] kindOf;
        private final long[] valueOf;
        private final long[] expectedOf;
        private final long[] beganAt;
        /** Sequence of an operation of unknown outcome that is to be begun again; 0: none. */
        private final long[] again;
        private final int[] repeats;
        private final Deadlines.Named[] deadlineOf;

        private Clients(final int count)
        {
            processes = new int[count];
            keyOf = new int[count];
            kindOf = new int[count];
            valueOf = new long[count];
            expectedOf = new long[count];
            beganAt = new long[count];
            again = new long[count];
            repeats = new int[count];
            deadlineOf = new Deadlines.Named[count];
            Arrays.fill(processes, -1);
        }

        /** @return whether an operation was begun. */
        boolean maybeBegin(final TableEngine engine, final OpenTable table, final long deadlineNs)
        {
            for (int client = 0; client < processes.length; client++)
            {
                if (again[client] != 0)
                {
                    if (random.nextInt(6) == 0)
                    {
                        repeat(client, engine, table, deadlineNs);
                        return true;
                    }
                }
                else if (processes[client] < 0 && begun < operations && random.nextInt(6) == 0)
                {
                    begin(client, engine, table, deadlineNs);
                    return true;
                }
            }
            return false;
        }

        private void begin(
            final int client, final TableEngine engine, final OpenTable table, final long deadlineNs)
        {
            final int key = random.nextInt(keys.size());
            final int kind = kinds[random.nextInt(kinds.length)];
            final MemorySegment keyBytes = MemorySegment.ofArray(keys.get(key));
            final long value = nextValue++;
            final long expected = expectedVersion(key);
            processes[client] = nextProcess++;
            keyOf[client] = key;
            kindOf[client] = kind;
            valueOf[client] = value;
            expectedOf[client] = expected;
            repeats[client] = 0;
            beganAt[client] = ++events;
            deadlineOf[client] = deadlines == null ? null : deadlines.draw(kind, key);
            invoke(client, deadlineOf[client]);
            if (!begin(client, engine, table, keyBytes, deadlineNs))
            {
                // All slots clean up after operations that were reported late.
                history.complete(processes[client], EventType.FAIL, null);
                processes[client] = -1;
            }
            else
            {
                begun++;
            }
        }

        private void invoke(final int client, final Deadlines.Named deadline)
        {
            final int kind = kindOf[client];
            final Object input = inputOf(kind, valueOf[client], expectedOf[client]);
            history.invoke(processes[client],
                deadline == null ? functionOf(kind) : deadline.function(kind, functionOf(kind)), keyOf[client],
                deadline == null ? input : deadline.input(kind, input));
        }

        private void repeat(
            final int client, final TableEngine engine, final OpenTable table, final long deadlineNs)
        {
            if (engine.freeSlots() > 0)
            {
                engine.repeatNext(again[client]);
                again[client] = 0;
                repeats[client]++;
                begin(client, engine, table, MemorySegment.ofArray(keys.get(keyOf[client])), deadlineNs);
            }
        }

        private boolean begin(
            final int client,
            final TableEngine engine,
            final OpenTable table,
            final MemorySegment keyBytes,
            final long deadlineNs)
        {
            final int kind = kindOf[client];
            final long value = valueOf[client];
            final TableRequest request = new TableRequest().of(kind, table, deadlineNs, client)
                .key(keyBytes, 0, Long.BYTES).expectedVersion(expectedOf[client]).delta(value)
                .inDigits(isCounting && numbers.isInDigits(value));
            if (OperationKind.takesValue(kind))
            {
                final byte[] bytes = kind == OperationKind.APPEND ? suffixOf(value) : valueOf(value);
                request.value(MemorySegment.ofArray(bytes), 0, bytes.length);
            }
            if (deadlineOf[client] != null)
            {
                request.expiry(deadlineOf[client].expiry).expiryCondition(deadlineOf[client].condition);
            }
            return engine.begin(request);
        }

        void onComplete(final Operation operation)
        {
            final int client = (int)operation.correlationId();
            if (operation.version() != 0)
            {
                versions.get(keyOf[client]).add(operation.version());
            }
            if (operation.result() == OperationResult.STORED &&
                !issued.add(Long.toHexString(operation.version()) + " of key " + keyOf[client]))
            {
                damage = "a version was given twice";
            }
            if (operation.result() == OperationResult.OUTCOME_UNKNOWN && isRepeating && repeats[client] < 3)
            {
                again[client] = operation.sequence();
                return;
            }
            if (repeats[client] > 0)
            {
                repeated[operation.result()]++;
            }
            addAnswer(client, operation);
            if (deadlineOf[client] != null && operation.result() != OperationResult.OUTCOME_UNKNOWN)
            {
                deadlineOf[client].end();
            }
            switch (operation.result())
            {
                case OperationResult.OUTCOME_UNKNOWN ->
                    history.complete(processes[client], EventType.INFO, null);
                case OperationResult.FOUND, OperationResult.NOT_FOUND, OperationResult.STORED,
                    OperationResult.DELETED, OperationResult.EXISTS, OperationResult.VERSION_MISMATCH,
                    OperationResult.CONDITION_NOT_MET ->
                    history.ok(processes[client], outputOf(operation));
                case OperationResult.CORRUPT, OperationResult.RESTRUCTURING, OperationResult.TABLE_CHANGED,
                    OperationResult.NOT_A_COUNTER, OperationResult.COUNTER_OVERFLOW ->
                {
                    damage = "result " + OperationResult.name(operation.result());
                    history.complete(processes[client], EventType.FAIL, null);
                }
                default -> history.complete(processes[client], EventType.FAIL, null);
            }
            processes[client] = -1;
        }

        /** Of engines that died. */
        private void addUnfinished()
        {
            for (int client = 0; client < processes.length; client++)
            {
                if (processes[client] >= 0)
                {
                    symptoms.add(new Symptoms.Answer(kindOf[client], keyOf[client], valueOf[client], expectedOf[client],
                        beganAt[client], Long.MAX_VALUE, OperationResult.OUTCOME_UNKNOWN, 0, List.of()));
                }
            }
        }

        private void addAnswer(final int client, final Operation operation)
        {
            final boolean isUnknown = operation.result() == OperationResult.OUTCOME_UNKNOWN;
            final List<?> numbers = operation.result() == OperationResult.STORED && kindOf[client] ==
                OperationKind.INCREMENT ? List.of(operation.counter()) :
                operation.result() == OperationResult.FOUND && kindOf[client] == OperationKind.GET ?
                valueIn(operation) instanceof final List<?> list ? list : List.of(valueIn(operation)) : List.of();
            symptoms.add(new Symptoms.Answer(kindOf[client], keyOf[client], valueOf[client], expectedOf[client],
                beganAt[client], isUnknown ? Long.MAX_VALUE : ++events, operation.result(), operation.version(),
                numbers));
        }
    }

    /** Scans of one engine, where records have no deadlines: what a range gives is read as by GETs as long as it. */
    final class Scan
    {
        /** By key: who reads it, while a range runs; -1: nobody, or it was met. */
        private final int[] readers = new int[keys.size()];
        private TableEngine engine;

        private Scan()
        {
            Arrays.fill(readers, -1);
        }

        /** Draws nothing where nothing is scanned. */
        void maybeBegin(final TableEngine scanning, final OpenTable table, final int oneIn, final long deadlineNs)
        {
            if (engine != null && !engine.scan().isBusy())
            {
                end();
            }
            if (engine == null && oneIn > 0 && random.nextInt(oneIn) == 0)
            {
                engine = scanning;
                for (int key = 0; key < readers.length; key++)
                {
                    readers[key] = nextProcess++;
                    history.invoke(readers[key], functionOf(OperationKind.GET), key, null);
                }
                engine.scan().begin(table, 0, deadlineNs, this::take);
            }
        }

        private boolean take(final DirectBuffer block, final int offset, final long behind)
        {
            final byte[] key = new byte[BlockDescriptor.keyLength(block, offset)];
            block.getBytes(offset + BlockDescriptor.KEY_OFFSET, key);
            final byte[] value = new byte[BlockDescriptor.valueLength(block, offset)];
            block.getBytes(offset + BlockDescriptor.KEY_OFFSET + key.length, value);
            for (int i = 0; i < readers.length; i++)
            {
                if (readers[i] >= 0 && Arrays.equals(key, keys.get(i)))
                {
                    history.ok(readers[i],
                        Arrays.asList(valueIn(value), BlockDescriptor.version(block, offset)));
                    readers[i] = -1;
                    scanned++;
                }
            }
            return true;
        }

        /** What it has not met may be there: it ended early, or the key was moved. */
        private void end()
        {
            engine = null;
            Arrays.stream(readers).filter(reader -> reader >= 0)
                .forEach(reader -> history.complete(reader, EventType.FAIL, null));
            Arrays.fill(readers, -1);
        }
    }

    RaceWorkload(
        final String name,
        final RandomGenerator random,
        final List<byte[]> keys,
        final int[] kinds,
        final int operations)
    {
        this.name = name;
        this.random = random;
        this.keys = keys;
        this.kinds = kinds;
        this.operations = operations;
        isCounting = Arrays.stream(kinds).anyMatch(kind -> kind == OperationKind.INCREMENT);
        history = new HistoryBuilder(name);
        keys.forEach(key -> versions.add(new ArrayList<>()));
    }

    Clients clients(final int count)
    {
        all.add(new Clients(count));
        return all.getLast();
    }

    Scan scan()
    {
        scans.add(new Scan());
        return scans.getLast();
    }

    /** Before the first operation: records live until deadlines; -1: none does. */
    void expire(final long skewNs)
    {
        deadlines = skewNs < 0 ? null : new Deadlines(random, history, () -> nextProcess++, skewNs);
    }

    /** Before anything else happens at a time. */
    void tick(final long nowNs)
    {
        if (deadlines != null)
        {
            deadlines.tick(nowNs);
        }
    }

    /** Before the first operation. Not both deadlines and digits: the checker cannot decide some of those runs. */
    void take(final StepShape shape, final long seed)
    {
        isRepeating = shape.repeats;
        isJudgedByRulesOnly = shape.isJudgedByRulesOnly;
        numbers = shape.skewNs < 0 ? Numbers.of(seed) : Numbers.BYTES;
        deadlines = shape.skewNs < 0 ? null : new Deadlines(random, history, () -> nextProcess++, shape.skewNs);
    }

    boolean isAllBegun()
    {
        return begun >= operations;
    }

    /** @return null when all is well, else what is wrong. */
    String verdict()
    {
        if (damage != null)
        {
            return name + ": " + damage;
        }
        all.forEach(Clients::addUnfinished);
        scans.forEach(Scan::end);
        final List<String> found = deadlines == null ? symptoms.find() : List.of();
        if (!found.isEmpty() || isJudgedByRulesOnly)
        {
            return found.isEmpty() ? null : name + ": " + String.join("\n", found);
        }
        final LinearVerdict verdict = CHECKER.check(history.build());
        return switch (verdict.validity())
        {
            case VALID -> null;
            case INVALID -> name + ": " +
                String.join("\n", deadlines == null ? symptoms.findCountedTwice() : List.of()) + verdict.explanation();
            default -> name + ": not decided, " + verdict.explanation();
        };
    }

    private long expectedVersion(final int key)
    {
        final List<Long> seen = versions.get(key);
        final int choice = random.nextInt(6);
        return seen.isEmpty() || choice == 0 ? 1 + random.nextInt(2) :
            seen.get(Math.max(0, seen.size() - 1 - (choice < 4 ? 0 : random.nextInt(12))));
    }

    private byte[] suffixOf(final long value)
    {
        appended.add(value);
        final byte[] bytes = new byte[Long.BYTES];
        new UnsafeBuffer(bytes).putLong(0, value, LITTLE_ENDIAN);
        return bytes;
    }

    private byte[] valueOf(final long value)
    {
        if (isCounting)
        {
            return numbers.valueOf(value);
        }
        final byte[] bytes = new byte[VALUE_MIN_BYTES + (int)(value * 7 % VALUE_SPREAD) / 8 * 8];
        final UnsafeBuffer buffer = new UnsafeBuffer(bytes);
        for (int i = 0; i < bytes.length; i += Long.BYTES)
        {
            buffer.putLong(i, value, LITTLE_ENDIAN);
        }
        return bytes;
    }

    private static String functionOf(final int kind)
    {
        return new String[]{"get", "exists", "put", "put-if-absent", "replace", "delete", "delete-version", "increment",
            "append", "put-if-present", "expire"}[kind];
    }

    private static Object inputOf(final int kind, final long value, final long expected)
    {
        return switch (kind)
        {
            case OperationKind.PUT, OperationKind.PUT_IF_ABSENT, OperationKind.PUT_IF_PRESENT,
                OperationKind.APPEND, OperationKind.INCREMENT -> value;
            case OperationKind.REPLACE -> List.of(expected, value);
            case OperationKind.DELETE_VERSION -> expected;
            default -> null;
        };
    }

    private Object outputOf(final Operation operation)
    {
        return switch (operation.result())
        {
            case OperationResult.FOUND ->
                operation.kind() == OperationKind.EXISTS ? true : deadlines == null ?
                    Arrays.asList(valueIn(operation), operation.version()) :
                    Arrays.asList(valueIn(operation), operation.version(),
                        operation.expiryMs() == 0 ? null : operation.expiryMs());
            case OperationResult.NOT_FOUND -> switch (operation.kind())
            {
                case OperationKind.GET -> null;
                case OperationKind.EXISTS, OperationKind.DELETE, OperationKind.EXPIRE -> false;
                default -> Arrays.asList(false, null);
            };
            case OperationResult.STORED -> operation.kind() == OperationKind.INCREMENT ?
                List.of(operation.counter(), operation.version()) : operation.version();
            case OperationResult.DELETED -> true;
            default -> Arrays.asList(false, operation.version());
        };
    }

    /**
     * Every word of a value is its number, with appended words behind: a torn or mixed one is damage, whatever the
     * history says.
     */
    private Object valueIn(final Operation operation)
    {
        final byte[] bytes = new byte[operation.valueLength()];
        operation.copyValueTo(MemorySegment.ofArray(bytes), 0);
        return valueIn(bytes);
    }

    private Object valueIn(final byte[] bytes)
    {
        final UnsafeBuffer buffer = new UnsafeBuffer(bytes);
        if (isCounting)
        {
            return Numbers.numberIn(bytes);
        }
        final long first = bytes.length < Long.BYTES ? -1 : buffer.getLong(0, LITTLE_ENDIAN);
        final List<Object> numbers = new ArrayList<>();
        int at = 0;
        if (first > 0 && first < nextValue && !appended.contains(first))
        {
            final byte[] whole = valueOf(first);
            at = whole.length;
            numbers.add(first);
            noteIf(at > bytes.length || !Arrays.equals(whole, Arrays.copyOf(bytes, at)));
        }
        for (; at < bytes.length; at += Long.BYTES)
        {
            final long number = bytes.length - at < Long.BYTES ? -1 : buffer.getLong(at, LITTLE_ENDIAN);
            noteIf(!appended.contains(number));
            numbers.add(number);
        }
        noteIf(numbers.isEmpty());
        return numbers.size() == 1 && !appended.contains(first) ? first : numbers;
    }

    private void noteIf(final boolean isDamaged)
    {
        if (isDamaged)
        {
            damage = "a value that nobody wrote";
        }
    }
}
