package io.verbena.table.operation;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.table.EngineMemory;
import io.verbena.table.SimQueuePairPort;
import io.verbena.table.TableEngine;
import io.verbena.table.TableEngineConfiguration;
import io.verbena.table.access.EmptiedWords;
import io.verbena.table.access.Scratch;
import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.allocation.ChunkSource;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.GrowthSource;
import io.verbena.table.directory.NodeLink;
import io.verbena.table.directory.NodeLinks;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.PendingRemovals;
import io.verbena.table.directory.TableDirectory;
import io.verbena.table.directory.TombstoneQueue;
import io.verbena.table.expiry.ExpiryClock;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.EngineGrowth;
import io.verbena.table.moving.MergeUnit;
import io.verbena.table.scan.TableScan;
import io.verbena.table.sweep.ExpirySweep;
import io.verbena.table.trace.OperationTrace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongUnaryOperator;
import net.openhft.hashing.LongTupleHashFunction;
import org.agrona.UnsafeApi;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.IntArrayQueue;
import org.agrona.collections.IntHashSet;
import org.agrona.collections.LongArrayQueue;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * All that the further behaviour of an engine depends on, as one hash: every field of every object that it reaches, its
 * registered memory as far as single operations use it, and its location cache. Left out is only what counts, and what
 * a time is compared with: under exploration each wait is over by the next look. So an engine that is back where it was
 * before is in the same state, which a history of what it saw never is.
 */
public final class EngineState
{
    /** Counts, times and random numbers; and what is set whenever it is used. */
    private static final Set<String> LEFT_OUT = Set.of(
        "OperationFlow.counters", "Tombstones.counters", "OperationFlow.nowNs", "OperationRunner.earliestDeadlineNs",
        "Records.clockNs", "EmptiedWords.count",
        "Contention.state", "Contention.ended", "Contention.retries", "Batch.sequence",
        "Cost.retries", "Cost.verbs", "Cost.doorbells", "Cost.roundTrips",
        "Operation.cookie", "Location.touched", "Pause.untilNs",
        "LocationCache.base", "LocationCache.pages", "OldBuckets.op", "OldBuckets.only", "Scratch.address",
        "BlockAllocator.refusals", "Tombstones.dueOffset", "Tombstones.dueWord");
    /** Of an operation: what a look finds, and what the next one overwrites. */
    private static final Set<String> FOUND = Set.of(
        "Candidates.words", "Candidates.offsets", "Candidates.slots", "Candidates.count",
        "Candidates.resolved", "Candidates.posted", "Answer.valueOffset", "Answer.valueLength");
    /** What is to be killed. */
    private static final Set<String> VICTIMS =
        Set.of("Claim.victims", "Claim.victimOffsets", "Claim.victimCount");
    private static final Set<Class<?>> INSIDE = Set.of(
        TableEngine.class, PointOperations.class, OperationRunner.class, Operation.class, Request.class,
        Location.class, Operation.MovingSlots.class, Operation.Combining.class, Operation.OwnBlock.class, Target.class,
        Claim.class, Candidates.class, Operation.Answer.class, Operation.Cost.class, Step.class, OwnBlocks.class,
        Pause.class, OpenTable.class, TableDirectory.class, NodeLink.class, Answers.class, Attempts.class, Batch.class,
        EmptiedWords.class,
        BlockAllocator.class, Combiner.class, ComputedValues.class, Contention.class, EngineMemory.class,
        EpochTracker.class, Inserts.class, LocationCache.class, Lookups.class, MergeUnit.class, MirroredInserts.class,
        Records.class,
        RepeatStep.class, Scratch.class, SlotMoves.class, StartStep.class, SwapStep.class, Tombstones.class,
        TombstoneQueue.class, PendingRemovals.class, NodeLinks.class, OldBuckets.class, KeyHash.class,
        TableDescriptor.class,
        ArrayList.class, LongArrayQueue.class, IntArrayQueue.class, IntHashSet.class, Int2ObjectHashMap.class);
    private static final Set<Class<?>> COLLECTIONS = Set.of(
        ArrayList.class, LongArrayQueue.class, IntArrayQueue.class, IntHashSet.class, Int2ObjectHashMap.class);
    private static final Set<Class<?>> PARTS_OF_OPERATION =
        Set.of(Candidates.class, Claim.class, Operation.Answer.class);
    /**
     * A map is that of an open table, with the links of its subtables that it has met. A trace is written, and read by
     * nobody but the listener.
     */
    private static final Set<Class<?>> OUTSIDE = Set.of(
        OneSidedPort.class, TableScan.class, ExpirySweep.class, EngineGrowth.class, GrowthSource.class,
        TableEngineConfiguration.class,
        DeviceAttributes.class, ProtectionDomain.class, MemoryRegion.class, MemorySegment.class, Arena.class,
        UnsafeBuffer.class, LongTupleHashFunction.class, String.class, HashMap.class, ExpiryClock.class,
        OperationTrace.class);
    private static final Set<Class<?>> CALLBACKS = Set.of(NanoClock.class, EpochNanoClock.class,
        OperationListener.class, ChunkSource.class, Step.Action.class, Step.Settling.class,
        TableDirectory.Superseded.class);
    private static final int OWN_BYTES = 512;
    private static final int READ_BYTES = 1024;
    private static final int CACHE_BYTES = 4 * 64;
    /** Found out once for each class: a state is hashed millions of times. */
    private static final ClassValue<Shape> SHAPES = new ClassValue<>()
    {
        @Override
        protected Shape computeValue(final Class<?> type)
        {
            return Shape.of(type);
        }
    };
    private static final long CACHE_BASE = UnsafeApi.objectFieldOffset(LocationCache.class, "base");

    /** How an object of a class is added. */
    private enum Sort
    {
        OUTSIDE, CONSTANT, LONGS, INTS, ELEMENTS, COLLECTION, OPERATION, PART_OF_OPERATION, CACHE, PLAIN
    }

    private record Shape(Sort sort, Part[] parts)
    {
        private static Shape of(final Class<?> type)
        {
            if (type.isEnum() || isOutside(type))
            {
                return new Shape(type.isEnum() ? Sort.CONSTANT : Sort.OUTSIDE, new Part[0]);
            }
            if (type.isArray())
            {
                return new Shape(type == long[].class ? Sort.LONGS : type == int[].class ? Sort.INTS : Sort.ELEMENTS,
                    new Part[0]);
            }
            if (COLLECTIONS.contains(type))
            {
                return new Shape(Sort.COLLECTION, new Part[0]);
            }
            return new Shape(
                Operation.class == type ? Sort.OPERATION :
                LocationCache.class == type ? Sort.CACHE :
                PARTS_OF_OPERATION.contains(type) ? Sort.PART_OF_OPERATION : Sort.PLAIN, findParts(type));
        }
    }

    /** Which count says how much of an array is used. */
    private enum Used
    {
        ALL, VICTIMS, CANDIDATES, FOREIGN;

        private static Used of(final String name)
        {
            return switch (name)
            {
                case "Claim.victims", "Claim.victimOffsets" -> VICTIMS;
                case "Candidates.words", "Candidates.offsets", "Candidates.slots" -> CANDIDATES;
                case "Candidates.foreignWords" -> FOREIGN;
                default -> ALL;
            };
        }
    }

    /** A field, by its offset in the object. */
    private record Part(String name, Class<?> type, long offset, Used used, boolean isFound, boolean isVictim)
    {
        private Part(final Field field, final String name)
        {
            this(name, field.getType(), UnsafeApi.objectFieldOffset(field), Used.of(name), FOUND.contains(name),
                VICTIMS.contains(name));
        }

        /** Everything but the READ of blocks begins with what its own requests bring, and with the words to kill. */
        private boolean isUsed(final int step)
        {
            return !(isFound && step != Step.MATCH || isVictim && step != Step.KILL && step != Step.MAKE_ROOM);
        }
    }

    private final SimQueuePairPort port;
    private final boolean isWhole;
    private final LongUnaryOperator names;
    private final Map<Object, Integer> seen = new IdentityHashMap<>(512);
    /** The operations of their parts of which not all counts always. */
    private final Map<Object, Operation> owners = new IdentityHashMap<>();
    private long hash = 0x243F_6A88_85A3_08D3L;

    private EngineState(final SimQueuePairPort port, final boolean isWhole, final LongUnaryOperator names)
    {
        this.names = names;
        this.port = port;
        this.isWhole = isWhole;
    }

    /**
     * @param isWhole whether slots may be moved: then all counts that such steps leave to each other.
     * @param names   what words count as.
     * @return never {@link io.verbena.rdma.sim.explore.SimActor#HISTORY}.
     */
    public static long of(
        final TableEngine engine, final SimQueuePairPort port, final boolean isWhole, final LongUnaryOperator names)
    {
        final EngineState state = new EngineState(port, isWhole, names);
        state.addObject(engine);
        return state.hash | 1;
    }

    private void add(final long word)
    {
        hash = Long.rotateLeft(hash, 23) * 0x9E37_79B9_7F4A_7C15L ^ names.applyAsLong(word);
        hash = (hash ^ hash >>> 29) * 0xBF58_476D_1CE4_E5B9L;
    }

    private void addObject(final Object object)
    {
        if (object == null)
        {
            add(-1);
            return;
        }
        final Shape shape = SHAPES.get(object.getClass());
        if (shape.sort == Sort.OUTSIDE || shape.sort == Sort.CONSTANT)
        {
            add(shape.sort == Sort.OUTSIDE ? -2 : ((Enum<?>)object).ordinal());
            return;
        }
        final Integer number = seen.putIfAbsent(object, seen.size());
        add(number == null ? -3 : number);
        if (number == null)
        {
            addContent(shape, object);
        }
    }

    private void addContent(final Shape shape, final Object object)
    {
        switch (shape.sort)
        {
            case LONGS -> addAll((long[])object);
            case INTS -> addAll((int[])object);
            case ELEMENTS -> Arrays.asList((Object[])object).forEach(this::addObject);
            case COLLECTION -> addCollection(object);
            case PART_OF_OPERATION -> addParts(shape.parts, object, owners.get(object));
            case OPERATION -> addOperation(shape.parts, (Operation)object);
            case CACHE ->
            {
                addParts(shape.parts, object, null);
                addMemory(UnsafeApi.getLong(object, CACHE_BASE), CACHE_BYTES);
            }
            default -> addParts(shape.parts, object, null);
        }
    }

    private void addCollection(final Object object)
    {
        switch (object)
        {
            case LongArrayQueue queue -> queue.forEachLong(this::add);
            case IntArrayQueue queue -> queue.forEachInt(this::add);
            case IntHashSet set -> set.stream().sorted().forEach(this::add);
            case Int2ObjectHashMap<?> map -> map.keySet().stream().sorted().forEach(key -> addObject(map.get(key)));
            case ArrayList<?> list -> list.forEach(this::addObject);
            default -> throw new AssertionError("not known: " + object.getClass());
        }
    }

    /**
     * What engines are given, not what they are; and splits, which are explored by their histories. A type that is
     * known neither here nor as a part of an engine is an error, so that nothing is left out unnoticed.
     */
    static boolean isOutside(final Class<?> type)
    {
        if (type.isArray() && (type.getComponentType().isPrimitive() || !isOutside(type.getComponentType())) ||
            INSIDE.contains(type))
        {
            return false;
        }
        final boolean isCallback = (type.isHidden() || type.isSynthetic()) &&
            Arrays.stream(type.getInterfaces()).allMatch(CALLBACKS::contains);
        if (isCallback || OUTSIDE.stream().anyMatch(outside -> outside.isAssignableFrom(type)))
        {
            return true;
        }
        throw new AssertionError("not known: " + type + "; say in EngineState whether it is a part of an engine");
    }

    /** Most of most arrays is 0, which is passed over: a word is identified by its place. */
    private void addAll(final long... words)
    {
        for (int i = 0; i < words.length; i++)
        {
            if (words[i] != 0)
            {
                add(i);
                add(words[i]);
            }
        }
        add(words.length);
    }

    private void addAll(final int... words)
    {
        for (int i = 0; i < words.length; i++)
        {
            if (words[i] != 0)
            {
                add(i);
                add(words[i]);
            }
        }
        add(words.length);
    }

    private void addOperation(final Part[] parts, final Operation op)
    {
        owners.put(op.candidates, op);
        owners.put(op.claim, op);
        owners.put(op.answer, op);
        addParts(parts, op, null);
        addScratch(op);
    }

    private void addParts(final Part[] parts, final Object object, final Operation owner)
    {
        for (final Part part : parts)
        {
            if (owner != null && !isWhole && !part.isUsed(owner.step))
            {
                continue;
            }
            switch (part.used)
            {
                case VICTIMS -> addFirst(part, object, ((Claim)object).victimCount);
                case CANDIDATES -> addFirst(part, object, ((Candidates)object).count);
                case FOREIGN -> addFirst(part, object, ((Candidates)object).foreignCount);
                default -> addField(part, object);
            }
        }
    }

    /** Of arrays only what is counted: what is behind was left by what came before. */
    private void addFirst(final Part part, final Object object, final int count)
    {
        add(count);
        final Object array = UnsafeApi.getReference(object, part.offset);
        for (int i = 0; i < count; i++)
        {
            add(array instanceof final int[] words ? words[i] : ((long[])array)[i]);
        }
    }

    /** Of a batch under way some requests have brought their results already; words looked at count until matched. */
    private void addScratch(final Operation op)
    {
        addMemory(op.scratch.address + op.ownBlock(), OWN_BYTES);
        if (op.inFlight)
        {
            port.brought(op).forEach(target -> addMemory(target.addressOffset(), target.capacity()));
        }
        if (isWhole)
        {
            addMemory(op.scratch.address + op.base, Scratch.OWN_BLOCK_OFFSET);
            addMemory(op.scratch.address + op.base + Scratch.BLOCKS_OFFSET, READ_BYTES);
        }
        else if (op.step == Step.MATCH)
        {
            addMemory(op.scratch.address + op.base + Scratch.BUCKETS_OFFSET,
                Scratch.OWN_BLOCK_OFFSET - Scratch.BUCKETS_OFFSET);
        }
    }

    private void addMemory(final long address, final int lengthBytes)
    {
        for (int i = 0; i < lengthBytes; i += Long.BYTES)
        {
            add(UnsafeApi.getLong(address + i));
        }
    }

    private void addField(final Part part, final Object object)
    {
        if (!part.type.isPrimitive())
        {
            addObject(UnsafeApi.getReference(object, part.offset));
        }
        else if (part.type == boolean.class)
        {
            add(UnsafeApi.getBoolean(object, part.offset) ? 1 : 0);
        }
        else if (part.type == int.class)
        {
            final int value = UnsafeApi.getInt(object, part.offset);
            // The first loss costs no pause, all others do.
            add(part.name.equals("Cost.contentions") ? Math.min(2, value) : value);
        }
        else if (part.type == long.class)
        {
            final long value = UnsafeApi.getLong(object, part.offset);
            // Addresses are other ones in each run.
            add(part.name.equals("Target.cacheEntry") ? value & 0xFFF : value);
        }
        else
        {
            throw new AssertionError("not known: " + part);
        }
    }

    private static Part[] findParts(final Class<?> type)
    {
        final List<Part> parts = new ArrayList<>();
        for (Class<?> at = type; at != null && at != Object.class; at = at.getSuperclass())
        {
            for (final Field field : at.getDeclaredFields())
            {
                final String name = at.getSimpleName() + '.' + field.getName();
                if (!Modifier.isStatic(field.getModifiers()) && !LEFT_OUT.contains(name))
                {
                    parts.add(new Part(field, name));
                }
            }
        }
        return parts.toArray(Part[]::new);
    }
}
