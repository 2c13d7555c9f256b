package io.verbena.table.growth;

import io.verbena.table.RacedWalk;
import io.verbena.table.SimQueuePairPort;
import io.verbena.table.access.Scratch;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.moving.MergeUnit;
import io.verbena.table.moving.MoveBatch;
import io.verbena.table.moving.MoveRequests;
import io.verbena.table.scan.Cursor;
import io.verbena.table.scan.ScanBlocks;
import io.verbena.table.scan.ScanGroups;
import io.verbena.table.scan.TableScan;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * What a split, a merge or a walk will do next, in 64 bits, so that an exploration goes into a state once however it
 * came about: the fields of their objects, the memory that they work in and the directory that they know. Left out are
 * counts of what it has cost, what never changes, and what nobody looks at again; a field of a type that is not known
 * here is an error, so that nothing is left out unnoticed. Results of swaps count as long as their batch is the last
 * one: {@link SimQueuePairPort#forgetsResults()}.
 */
public final class OwnState
{
    private static final Set<Class<?>> PARTS = Set.of(TableSplit.class, SplitLanes.class, SplitGroup.class,
        GrowthBatch.class, TableMerge.class, HeaderLine.class, SubtableFormat.class, MergeUnit.class, MergeRoom.class,
        RacedWalk.class, TableScan.class, Cursor.class, MoveBatch.class, ScanGroups.class, ScanBlocks.class);
    /** Set once, or taken from the memory that counts, whenever they are used. */
    private static final Set<String> LEFT_OUT = Set.of("table", "link", "port", "items", "words", "blockAt", "sink",
        "protectionDomain", "attributes", "epochs", "counts", "costs", "expiryClock", "emptiedWords");
    private static final Set<String> COUNTS = Set.of("verbs", "doorbells", "payloadBytes", "movedRecords");
    /** As much as a split has, and more than a walk over a few short records needs of what it has. */
    private static final int MOST_BYTES = ScanGroups.MEMORY_BYTES + 8192;
    /** Steps that take no notice of what their swaps find: who lost one finds done what was to be done. */
    private static final Set<String> HEEDLESS = Set.of("MOVE", "PLACE", "FINISH");
    /** Steps that go on with what is in a place then, whether their own swap put it there or another one did before. */
    private static final Set<String> IMPARTIAL = Set.of("FREEZE", "RESERVE");
    private static final Map<Class<?>, List<Field>> FIELDS = new ConcurrentHashMap<>();

    private long hash = 1;
    private Scratch scratch;
    private boolean isHeedless;
    private boolean isImpartial;
    /** Where results of swaps are in the memory. */
    private final List<Integer> resultsAt = new ArrayList<>();

    /** @return a hash of a split, merge or walk under way, never 0. */
    public static long of(final Object work, final OpenTable table, final SimQueuePairPort port)
    {
        final OwnState state = new OwnState();
        state.addPart(work);
        for (int at = 0; at < Math.min(state.scratch.buffer.capacity(), MOST_BYTES); at += Long.BYTES)
        {
            final long found = state.scratch.buffer.getLong(at, LITTLE_ENDIAN);
            final long word = state.isImpartial ? port.left(state.scratch.address + at, found) : found;
            if (word != 0 && !(state.isHeedless && state.isResult(at)))
            {
                state.add(at);
                state.add(word);
            }
        }
        for (final long entry : table.directory.entries(table.descriptor()))
        {
            state.add(entry);
        }
        return state.hash | 1;
    }

    private boolean isResult(final int at)
    {
        boolean is = false;
        for (final int from : resultsAt)
        {
            is |= at >= from && at < from + GrowthBatch.MAX_SWAPS * Long.BYTES;
        }
        return is;
    }

    /** @return a hash of what has ended or died, and of which only this counts; never 0. */
    public static long ofEnd(final Object... what)
    {
        final OwnState state = new OwnState();
        state.addText(Arrays.toString(what));
        return state.hash | 1;
    }

    private void addText(final String text)
    {
        text.chars().forEach(this::add);
        add(-1);
    }

    private void add(final long word)
    {
        hash = (hash ^ word) * 0xBF58_476D_1CE4_E5B9L;
        hash = (hash ^ hash >>> 29) * 0x94D0_49BB_1331_11EBL + 1;
        hash ^= hash >>> 32;
    }

    private void addPart(final Object part)
    {
        for (int i = 0; part instanceof final MoveRequests requests && i < requests.posted(); i++)
        {
            add(requests.item(i));
        }
        for (final Field field : FIELDS.computeIfAbsent(part.getClass(), OwnState::fields))
        {
            try
            {
                if (field.getName().equals("swapsAt"))
                {
                    resultsAt.add(field.getInt(part));
                }
                addValue(field.get(part),
                    part instanceof final ScanGroups groups ? groups.records() : Integer.MAX_VALUE);
            }
            catch (final IllegalAccessException ex)
            {
                throw new AssertionError(ex);
            }
        }
    }

    /** Classes inside of a part belong to it. */
    private static List<Field> fields(final Class<?> part)
    {
        if (!PARTS.contains(part) && !PARTS.contains(part.getEnclosingClass()))
        {
            throw new AssertionError("not known: " + part);
        }
        final List<Field> fields = new ArrayList<>();
        for (Class<?> at = part; at != Object.class; at = at.getSuperclass())
        {
            for (final Field field : at.getDeclaredFields())
            {
                // A split link is a number in one part, and the connection in another.
                final boolean isLeftOut = COUNTS.contains(field.getName()) ||
                    LEFT_OUT.contains(field.getName()) && field.getType() != long.class;
                if (!isLeftOut && !Modifier.isStatic(field.getModifiers()))
                {
                    field.setAccessible(true);
                    fields.add(field);
                }
            }
        }
        return fields;
    }

    private void addValue(final Object value)
    {
        addValue(value, Integer.MAX_VALUE);
    }

    /** @param most elements of an array. */
    private void addValue(final Object value, final int most)
    {
        switch (value)
        {
            case null -> add(0);
            case Boolean is -> add(is ? 1 : 2);
            case Integer number -> add(number);
            case Long number -> add(number);
            case String text -> addText(text);
            case Map<?, ?> map -> addText(map.toString());
            case Scratch memory -> scratch = memory;
            case Enum<?> one ->
            {
                isHeedless |= HEEDLESS.contains(one.name());
                isImpartial |= IMPARTIAL.contains(one.name());
                add(one.ordinal());
            }
            default ->
            {
                if (!value.getClass().isArray())
                {
                    addPart(value);
                    return;
                }
                for (int i = 0; i < Math.min(Array.getLength(value), most); i++)
                {
                    addValue(Array.get(value, i));
                }
            }
        }
    }
}
