package io.verbena.resp;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.CountPage;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RecordPage;
import io.verbena.protocol.request.RequestExpiry;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;

import org.agrona.concurrent.UnsafeBuffer;

import java.math.BigInteger;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** A node whose tables are maps; it carries out what waits in an order that a seed chooses. A thread of its own. */
final class MapEndpoint implements ComputeEndpoint, AutoCloseable
{
    private static final BigInteger LEAST = BigInteger.valueOf(Long.MIN_VALUE);
    private static final BigInteger MOST = BigInteger.valueOf(Long.MAX_VALUE);

    private record Entry(byte[] value, long version, long expiryMs)
    {
    }

    /** What was asked of records, from the first on. */
    final List<RequestKind> asked = Collections.synchronizedList(new ArrayList<>());

    /** Who may do what. */
    volatile AccessRules access = AccessRules.NONE;

    private final TreeMap<String, Entry> records = new TreeMap<>();
    /** Where each key that was ever met stands in a walk. */
    private final Map<String, Integer> places = new LinkedHashMap<>();
    private final LinkedBlockingQueue<NodeRequest> queue = new LinkedBlockingQueue<>();
    private final Random random;
    private final Thread thread = new Thread(this::run, "map-endpoint");
    private volatile boolean isClosed;
    /** Answers nothing while set. */
    volatile boolean isStopped;
    private long nextVersion = 1;

    private final boolean isInline;

    MapEndpoint(final long seed)
    {
        this(seed, false);
    }

    /** @param isInline whether each request is carried out at once, by its submitter. */
    MapEndpoint(final long seed, final boolean isInline)
    {
        this(seed, isInline, !isInline);
    }

    private MapEndpoint(final long seed, final boolean isInline, final boolean hasThread)
    {
        this.isInline = isInline;
        random = new Random(seed);
        thread.setDaemon(true);
        if (hasThread)
        {
            thread.start();
        }
    }

    /** One that carries requests out when {@link #serve()} is called, and only then. */
    static MapEndpoint driven(final long seed)
    {
        return new MapEndpoint(seed, false, false);
    }

    /** Carries out some of what waits, in any order. */
    void serve()
    {
        final List<NodeRequest> waiting = new ArrayList<>();
        queue.drainTo(waiting);
        while (!waiting.isEmpty() && !isStopped && 0 != random.nextInt(50))
        {
            carryOut(waiting.remove(random.nextInt(waiting.size())));
        }
        queue.addAll(waiting);
    }

    private void carryOut(final NodeRequest request)
    {
        if (request.start())
        {
            answer(request);
            request.complete();
        }
    }

    @Override
    public int id()
    {
        return 1;
    }

    @Override
    public AccessRules access()
    {
        return access;
    }

    @Override
    public int submit(final NodeRequest request)
    {
        if (isClosed)
        {
            return CLOSED;
        }
        request.queue();
        if (isInline)
        {
            request.start();
            answer(request);
            request.complete();
            return ACCEPTED;
        }
        queue.add(request);
        return ACCEPTED;
    }

    private void run()
    {
        final List<NodeRequest> waiting = new ArrayList<>();
        try
        {
            while (!isClosed)
            {
                final NodeRequest first = queue.poll(10, TimeUnit.MILLISECONDS);
                if (null != first)
                {
                    waiting.add(first);
                    queue.drainTo(waiting);
                }
                while (!waiting.isEmpty() && !isStopped)
                {
                    carryOut(waiting.remove(random.nextInt(waiting.size())));
                }
            }
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }

    private void answer(final NodeRequest request)
    {
        if (request instanceof final ControlRequest control)
        {
            final String name = control.tableName();
            if (ControlRequest.Kind.LIST_TABLES == control.kind())
            {
                control.answer(ControlRequest.Status.OK, List.of("users", "default", "db1"), null);
                return;
            }
            final boolean isKnown = "default".equals(name) || "db1".equals(name) || "users".equals(name);
            control.answer(isKnown ? ControlRequest.Status.OK : ControlRequest.Status.NOT_FOUND,
                isKnown ? new TableReference(name, name.hashCode()) : null, null);
        }
        else
        {
            answer((OperationRequest)request);
        }
    }

    private void answer(final OperationRequest request)
    {
        assertThat(request.isInDigits()).as("numbers are digits to clients of Redis").isTrue();
        asked.add(request.kind());
        final String prefix = request.table().name() + ":";
        final String key =
            prefix + new String(request.key(), 0, request.keyLength(), StandardCharsets.ISO_8859_1);
        if (request.kind().isRange())
        {
            records.values().removeIf(MapEndpoint::isPast);
        }
        else if (records.containsKey(key) && isPast(records.get(key)))
        {
            records.remove(key);
        }
        final Entry entry = records.get(key);
        switch (request.kind())
        {
            case GET, EXISTS -> found(request, entry);
            case PUT -> store(request, key, request.value(), request.valueLength());
            case EXPIRE -> expire(request, key, entry);
            case INCREMENT -> increment(request, key, entry);
            case PUT_IF_ABSENT -> storeIf(request, key, null == entry, OperationAnswer.EXISTS);
            case PUT_IF_PRESENT -> storeIf(request, key, null != entry, OperationAnswer.NOT_FOUND);
            case REPLACE -> storeIf(request, key, null != entry && entry.version == request.operand(),
                null == entry ? OperationAnswer.NOT_FOUND : OperationAnswer.VERSION_MISMATCH);
            case DELETE, DELETE_BY_VERSION ->
            {
                final boolean isMeant = null != entry && (RequestKind.DELETE ==
                    request.kind() || entry.version == request.operand());
                if (isMeant)
                {
                    records.remove(key);
                }
                request.answer(isMeant ? OperationAnswer.DELETED : null == entry ? OperationAnswer.NOT_FOUND :
                    OperationAnswer.VERSION_MISMATCH, null, 0, null);
            }
            case SCAN -> scan(request, prefix);
            case COUNT -> request.answer(OperationAnswer.FOUND, new CountPage(
                records.keySet().stream().filter((name) -> name.startsWith(prefix)).count(), 0, 0, 0, 0, 0, 0, 0, 0,
                0, 0).toByteArray(), RecordPage.END, null);
            default -> throw new IllegalStateException(request.toString());
        }
    }

    private static boolean isPast(final Entry entry)
    {
        return 0 != entry.expiryMs && System.currentTimeMillis() >= entry.expiryMs;
    }

    private static void found(final OperationRequest request, final Entry entry)
    {
        if (null == entry)
        {
            request.answer(OperationAnswer.NOT_FOUND, null, 0, null);
            return;
        }
        final byte[] target = request.arrayFor(entry.value.length);
        System.arraycopy(entry.value, 0, target, 0, entry.value.length);
        request.answer(OperationAnswer.FOUND, target, entry.value.length, entry.version, null);
        answerExpiry(request, entry);
    }

    private static void answerExpiry(final OperationRequest request, final Entry entry)
    {
        request.answerExpiry(entry.expiryMs, 0 == entry.expiryMs ? 0 :
            Math.max(1, entry.expiryMs - System.currentTimeMillis()));
    }

    private void expire(final OperationRequest request, final String key, final Entry entry)
    {
        if (null == entry)
        {
            request.answer(OperationAnswer.NOT_FOUND, null, 0, null);
            return;
        }
        final long before = 0 == entry.expiryMs ? Long.MAX_VALUE : entry.expiryMs;
        final long after = deadline(request, entry);
        final boolean isMet = switch ((int)request.operand())
        {
            case (int)RequestExpiry.IF_NONE -> 0 == entry.expiryMs;
            case (int)RequestExpiry.IF_SOME -> 0 != entry.expiryMs;
            case (int)RequestExpiry.IF_LATER -> after > before;
            case (int)RequestExpiry.IF_EARLIER -> after < before;
            default -> true;
        };
        if (isMet)
        {
            store(request, key, entry.value, entry.value.length);
        }
        else
        {
            request.answer(OperationAnswer.CONDITION_NOT_MET, null, entry.version, null);
        }
    }

    private void increment(final OperationRequest request, final String key, final Entry entry)
    {
        final String old = null == entry ? "0" : new String(entry.value, StandardCharsets.ISO_8859_1);
        final BigInteger number = old.matches("0|-?[1-9][0-9]{0,18}") ? new BigInteger(old) : MOST.add(BigInteger.ONE);
        final BigInteger sum = number.add(BigInteger.valueOf(request.operand()));
        if (number.compareTo(MOST) > 0 || number.compareTo(LEAST) < 0)
        {
            request.answer(OperationAnswer.NOT_A_COUNTER, null, entry.version, null);
            return;
        }
        if (sum.compareTo(MOST) > 0 || sum.compareTo(LEAST) < 0)
        {
            request.answer(OperationAnswer.COUNTER_OVERFLOW, null, null == entry ? 0 : entry.version, null);
            return;
        }
        records.put(key, new Entry(sum.toString().getBytes(StandardCharsets.US_ASCII), nextVersion++,
            null == entry ? 0 : entry.expiryMs));
        final byte[] target = request.arrayFor(Long.BYTES);
        new UnsafeBuffer(target).putLong(0, sum.longValue(), ByteOrder.LITTLE_ENDIAN);
        request.answer(OperationAnswer.STORED, target, Long.BYTES, nextVersion, null);
    }

    private static long deadline(final OperationRequest request, final Entry entry)
    {
        final long expiry = request.expiry();
        assertThat(RequestExpiry.isValid(expiry)).as("expiry %d", expiry).isTrue();
        return RequestExpiry.KEEP == expiry ? null == entry ? 0 : entry.expiryMs :
            expiry < 0 ? System.currentTimeMillis() - expiry : expiry;
    }

    private void storeIf(
        final OperationRequest request, final String key, final boolean isMet, final OperationAnswer otherwise)
    {
        if (isMet)
        {
            store(request, key, request.value(), request.valueLength());
        }
        else
        {
            request.answer(otherwise, null, 0, null);
        }
    }

    private void store(
        final OperationRequest request, final String key, final byte[] value, final int lengthBytes)
    {
        records.put(key, new Entry(Arrays.copyOf(value, lengthBytes), nextVersion++,
            deadline(request, records.get(key))));
        request.answer(OperationAnswer.STORED, null, nextVersion, null);
    }

    /** Ten records a page, in the order in which they were met first; deletes move no other record. */
    private void scan(final OperationRequest request, final String prefix)
    {
        records.keySet().forEach((key) -> places.computeIfAbsent(key, (name) -> places.size()));
        final long from = request.operand() >= 0 ? request.operand() :
            (request.operand() << 2 >>> 33) * (places.size() + 1) >>> 31;
        final RecordPage page = new RecordPage();
        page.clear();
        long next = RecordPage.END;
        int taken = 0;
        for (final Map.Entry<String, Integer> place : places.entrySet())
        {
            final Entry entry = records.get(place.getKey());
            if (null != entry && place.getKey().startsWith(prefix) && place.getValue() >= from)
            {
                if (10 == taken++)
                {
                    next = place.getValue();
                    break;
                }
                final byte[] key = place.getKey().substring(prefix.length()).getBytes(StandardCharsets.ISO_8859_1);
                final byte[] block = Arrays.copyOf(key, key.length + entry.value.length);
                System.arraycopy(entry.value, 0, block, key.length, entry.value.length);
                page.add(new UnsafeBuffer(block), 0, key.length, entry.value.length, entry.version,
                    place.getValue() + 1, entry.expiryMs);
            }
        }
        request.answer(OperationAnswer.FOUND, page.toByteArray(), next, null);
    }

    @Override
    public void close()
    {
        isClosed = true;
        try
        {
            thread.join(10_000);
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }
}
