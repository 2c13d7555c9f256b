package io.verbena.table;

import io.verbena.table.check.TableCheck;
import io.verbena.table.check.TableChecker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TableCreator;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.trace.OperationTrace;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;
import org.agrona.concurrent.UnsafeBuffer;

/** One engine over a {@link StepFabric} with a clock moved by hand; runs one operation at a time, to its end. */
public final class EngineFixture implements AutoCloseable
{
    public static final int NODE = 7;
    static final int OTHER_NODE = 9;
    static final int MEMORY_BYTES = 4 << 20;
    static final int BLOCKS_AT = 1 << 20;

    /** Copy of a finished operation. */
    public record Outcome(
        int result, long version, String value, long counter, int verbs, int doorbells, int roundTrips, int retries)
    {
    }

    public final StepFabric fabric;
    public final TableEngine engine;
    StepFabric.StepPort port;
    StepFabric.StepPort otherPort;
    final TableEngineConfiguration configuration = new TableEngineConfiguration();
    public long nowNs = 1_000_000_000L;
    long nextBlocksAt = BLOCKS_AT;
    int chunkBytes = 64 * 1024;
    int chunksLeft = 8;
    int chunkRequests;
    Outcome outcome;
    MemorySegment lastValue;
    long lastSequence;
    /** Deadline that the last operation reported. */
    long lastExpiryMs;
    /** Whether the record that was found last is a counter of 8 bytes that an increment wrote. */
    boolean lastIsCounter;
    /** Entries of the last operation, see OperationTrace, and how many there were with those that are not kept. */
    long[] lastTrace = {};
    int lastTraceCount;

    EngineFixture(final StepFabric fabric, final Consumer<TableEngineConfiguration> settings)
    {
        this.fabric = fabric;
        configuration.operationSlots(8).versionClock(() -> nowNs)
            .chunkSource(this::lease).operationListener(this::note);
        settings.accept(configuration);
        final boolean fences = fabric.readsOvertakeAtomics;
        engine = TableEngine.open(new LocalDomain(), LocalDomain.attributes(fences), () -> nowNs, configuration);
        connect();
    }

    public static EngineFixture single()
    {
        return single(settings -> { });
    }

    public static EngineFixture single(final Consumer<TableEngineConfiguration> settings)
    {
        final StepFabric fabric = new StepFabric(1);
        fabric.inOrder = true;
        fabric.addMemory(NODE, MEMORY_BYTES);
        fabric.addMemory(OTHER_NODE, MEMORY_BYTES);
        return new EngineFixture(fabric, settings);
    }

    void connect()
    {
        port = fabric.connect(NODE, engine::onBatchComplete);
        engine.attach(NODE, port);
        otherPort = fabric.connect(OTHER_NODE, engine::onBatchComplete);
        engine.attach(OTHER_NODE, otherPort);
    }

    private void lease(final int memoryNodeId)
    {
        chunkRequests++;
        if (chunksLeft-- > 0)
        {
            engine.chunkLeased(memoryNodeId, nextBlocksAt, chunkBytes);
            nextBlocksAt += chunkBytes;
        }
        else
        {
            engine.chunkRefused(memoryNodeId);
        }
    }

    private void note(final Operation operation)
    {
        String value = null;
        if (operation.result() == OperationResult.FOUND && operation.kind() == OperationKind.GET)
        {
            final byte[] bytes = new byte[operation.valueLength()];
            operation.copyValueTo(MemorySegment.ofArray(bytes), 0);
            value = new String(bytes, StandardCharsets.UTF_8);
            lastValue = MemorySegment.ofArray(bytes);
        }
        else if (operation.valueLength() != 0)
        {
            throw new AssertionError("a value where none was asked for");
        }
        lastSequence = operation.sequence();
        lastExpiryMs = operation.expiryMs();
        lastIsCounter = operation.isCounter();
        final long[] words = new long[OperationTrace.CAPACITY * OperationTrace.ENTRY_WORDS];
        lastTrace = Arrays.copyOf(words, operation.trace().copyTo(words, 0) * OperationTrace.ENTRY_WORDS);
        System.arraycopy(words, 0, lastTrace, 0, lastTrace.length);
        lastTraceCount = operation.trace().count();
        outcome = new Outcome(operation.result(), operation.version(), value, operation.counter(),
            operation.verbs(), operation.doorbells(), operation.roundTrips(), operation.retries());
    }

    public OpenTable createTable(final TablePlan plan)
    {
        return createTable(plan, 4096);
    }

    public OpenTable createTable(final TablePlan plan, final long firstOffset)
    {
        long offset = firstOffset;
        while (!plan.isPlaced())
        {
            plan.place(NODE, offset);
            plan.place(OTHER_NODE, offset);
            offset += plan.subtableBytes() + 63 & -64L;
        }
        final TableCreator creator = engine.createTable(plan, nowNs + 1_000_000_000L);
        while (creator.state() == TableCreator.State.RUNNING)
        {
            engine.poll();
            fabric.step();
        }
        if (creator.state() == TableCreator.State.FAILED)
        {
            throw new AssertionError(creator.failure());
        }
        return engine.openTable(TableDescriptor.decode(creator.descriptor().encode()));
    }

    public OpenTable createTable(final int depth, final int groups)
    {
        return createTable(TablePlan.ofShape("t", 0x1234, 42, depth, groups, new int[]{NODE, OTHER_NODE}));
    }

    Outcome run(final int kind, final OpenTable table, final String key, final String value, final long version)
    {
        begin(kind, table, key, value, version, nowNs + 1_000_000_000L);
        return finish();
    }

    /** As the other one, with a deadline that the clock reaches while it waits. */
    Outcome run(
        final int kind,
        final OpenTable table,
        final String key,
        final String value,
        final long version,
        final long timeoutNs)
    {
        begin(kind, table, key, value, version, nowNs + timeoutNs);
        return finish();
    }

    void begin(
        final int kind,
        final OpenTable table,
        final String key,
        final String value,
        final long version,
        final long deadlineNs)
    {
        final TableRequest request = request(kind, table, key, deadlineNs).expectedVersion(version);
        if (value != null)
        {
            final byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
            request.value(MemorySegment.ofArray(bytes), 0, bytes.length);
        }
        begin(request);
    }

    /** Runs a write, or EXPIRE, that says which deadline its record gets. */
    Outcome run(
        final int kind, final OpenTable table, final String key, final String value, final long expiry,
        final int condition, final long version)
    {
        final TableRequest request = request(kind, table, key, nowNs + 1_000_000_000L).expiry(expiry)
            .expiryCondition(condition).expectedVersion(version);
        if (value != null)
        {
            request.value(value.getBytes(StandardCharsets.UTF_8));
        }
        begin(request);
        return finish();
    }

    private static TableRequest request(
        final int kind, final OpenTable table, final String key, final long deadlineNs)
    {
        final byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
        return new TableRequest().of(kind, table, deadlineNs, 1).key(MemorySegment.ofArray(bytes), 0, bytes.length);
    }

    private void begin(final TableRequest request)
    {
        outcome = null;
        if (!engine.begin(request))
        {
            throw new AssertionError("no free slot");
        }
    }

    Outcome finish()
    {
        for (int i = 0; i < 100_000 && outcome == null; i++)
        {
            nowNs += 100;
            fabric.step();
            engine.poll();
        }
        if (outcome == null)
        {
            throw new AssertionError("operation did not end");
        }
        while (engine.active() > 0)
        {
            nowNs += 100;
            fabric.step();
            engine.poll();
        }
        return outcome;
    }

    Outcome increment(final OpenTable table, final String key, final long delta)
    {
        beginIncrement(table, key, delta);
        return finish();
    }

    /** INCREMENT or GET of a caller to whom numbers are digits. */
    Outcome runInDigits(final int kind, final OpenTable table, final String key, final long delta)
    {
        begin(request(kind, table, key, nowNs + 1_000_000_000L).delta(delta).inDigits(true));
        return finish();
    }

    void beginIncrement(final OpenTable table, final String key, final long delta)
    {
        begin(request(OperationKind.INCREMENT, table, key, nowNs + 1_000_000_000L).delta(delta));
    }

    /** A key's value as a counter. */
    long counter(final OpenTable table, final String key)
    {
        get(table, key);
        return lastValue.get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), 0);
    }

    public Outcome get(final OpenTable table, final String key)
    {
        return run(OperationKind.GET, table, key, null, 0);
    }

    public Outcome put(final OpenTable table, final String key, final String value)
    {
        return run(OperationKind.PUT, table, key, value, 0);
    }

    TableCheck check(final OpenTable table)
    {
        return new TableChecker(table.descriptor(), fabric::read).check();
    }

    public UnsafeBuffer memory()
    {
        return fabric.memory(NODE);
    }

    @Override
    public void close()
    {
        engine.close();
    }
}
