package io.verbena.load.ycsb;

import io.verbena.client.KvClient;
import io.verbena.client.KvOutcomeUnknownException;
import io.verbena.client.KvTimeoutException;
import io.verbena.client.TableOptions;
import io.verbena.load.InMemoryStore;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteIterator;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;

import static org.assertj.core.api.Assertions.assertThat;

class VerbenaDbTest
{
    private static final String TABLE = "usertable";

    private final InMemoryStore store = new InMemoryStore();
    private final List<String> writes = new ArrayList<>();
    private final List<String> accesses = new ArrayList<>();
    private KvClient client;

    @BeforeEach
    void createTable()
    {
        client = store.client();
        client.createTable(TABLE, TableOptions.DEFAULTS);
    }

    @Test
    void shouldReadWhatWasInserted()
    {
        final VerbenaDb db = db(client);

        assertThat(db.insert(TABLE, "user1", values("a", "1", "b", "2"))).isEqualTo(Status.OK);

        assertThat(read(db, "user1", null)).isEqualTo(Map.of("a", "1", "b", "2"));
        assertThat(read(db, "user1", Set.of("b"))).isEqualTo(Map.of("b", "2"));
    }

    @Test
    void shouldSayNotFoundWhenThereIsNoRecord()
    {
        final VerbenaDb db = db(client);

        assertThat(db.read(TABLE, "user1", null, new HashMap<>())).isEqualTo(Status.NOT_FOUND);
        assertThat(db.update(TABLE, "user1", values("a", "1"))).isEqualTo(Status.NOT_FOUND);
        assertThat(db.delete(TABLE, "user1")).isEqualTo(Status.NOT_FOUND);
        assertThat(writes).containsExactly("user1 1 NOT_APPLIED");
    }

    @Test
    void shouldKeepTheOtherFieldsWhenOneIsUpdated()
    {
        final VerbenaDb db = db(client);
        db.insert(TABLE, "user1", values("a", "1", "b", "2"));

        assertThat(db.update(TABLE, "user1", values("b", "3", "c", "4"))).isEqualTo(Status.OK);

        assertThat(read(db, "user1", null)).isEqualTo(Map.of("a", "1", "b", "3", "c", "4"));
        assertThat(writes).containsExactly("user1 1 ACKNOWLEDGED", "user1 2 ACKNOWLEDGED");
    }

    @Test
    void shouldUpdateAgainWhenAnotherWriterCameInBetween()
    {
        final VerbenaDb other = db(client);
        other.insert(TABLE, "user1", values("a", "1", "b", "2"));
        final int[] gets = new int[1];
        final VerbenaDb db = db(InMemoryStore.intercepted(client, (name, args, call) ->
        {
            final Object result = call.proceed();
            if (name.equals("get") && ++gets[0] <= 3)
            {
                other.update(TABLE, "user1", values("a", "other" + gets[0]));
            }
            return result;
        }));

        assertThat(db.update(TABLE, "user1", values("b", "mine"))).isEqualTo(Status.OK);

        assertThat(db.updateConflicts()).isEqualTo(3);
        assertThat(read(db, "user1", null)).isEqualTo(Map.of("a", "other3", "b", "mine"));
    }

    @Test
    void shouldGiveUpAnUpdateThatAlwaysMeetsAnotherWriter()
    {
        final VerbenaDb other = db(client);
        other.insert(TABLE, "user1", values("a", "1"));
        final VerbenaDb db = db(InMemoryStore.intercepted(client, (name, args, call) ->
        {
            final Object result = call.proceed();
            if (name.equals("get"))
            {
                other.insert(TABLE, "user1", values("a", "2"));
            }
            return result;
        }));
        writes.clear();

        assertThat(db.update(TABLE, "user1", values("a", "3"))).isEqualTo(Status.ERROR);

        assertThat(db.updateConflicts()).isEqualTo(VerbenaDb.MAX_UPDATE_ATTEMPTS);
        assertThat(db.lastFailure()).isInstanceOf(KvTimeoutException.class);
        assertThat(writes.getLast()).endsWith("NOT_APPLIED");
    }

    @Test
    void shouldTellWritesOfUnknownOutcomeFromThoseNotApplied()
    {
        final RuntimeException[] failure = new RuntimeException[1];
        final VerbenaDb db = db(InMemoryStore.intercepted(client, (name, args, call) ->
        {
            throw failure[0];
        }));

        failure[0] = new KvOutcomeUnknownException("unknown");
        assertThat(db.insert(TABLE, "user1", values("a", "1"))).isEqualTo(Status.ERROR);
        failure[0] = new KvTimeoutException("timeout");
        assertThat(db.insert(TABLE, "user1", values("a", "1"))).isEqualTo(Status.ERROR);

        assertThat(writes).containsExactly("user1 1 UNKNOWN", "user1 2 NOT_APPLIED");
        assertThat(db.lastFailure()).isSameAs(failure[0]);
    }

    @Test
    void shouldReportEachGetWithWhatItReturned()
    {
        final VerbenaDb db = db(client);
        db.read(TABLE, "user1", null, new HashMap<>());
        db.insert(TABLE, "user1", values("a", "1"));
        db.update(TABLE, "user1", values("a", "2"));
        read(db, "user1", Set.of());

        assertThat(accesses).containsExactly(
            "read user1", "read nothing",
            "write 1 of user1", "wrote 1 of user1",
            "write 2 of user1", "read user1", "read 24 bytes of write 1 by 1", "wrote 2 of user1",
            "read user1", "read 24 bytes of write 2 by 1");
    }

    @Test
    void shouldReportTheEndOfAGetThatFailed()
    {
        final VerbenaDb db = db(InMemoryStore.intercepted(client, (name, args, call) ->
        {
            throw new KvTimeoutException("planted");
        }));

        assertThat(db.read(TABLE, "user1", null, new HashMap<>())).isEqualTo(Status.ERROR);
        assertThat(accesses).containsExactly("read user1", "read nothing");
    }

    @Test
    void shouldRefuseAValueThatIsNoRecord()
    {
        client.table(TABLE).put("user1".getBytes(StandardCharsets.UTF_8), new byte[]{1, 2, 3});

        final VerbenaDb db = new VerbenaDb(client, 1, RecordListener.NONE);

        assertThat(db.read(TABLE, "user1", null, new HashMap<>())).isEqualTo(Status.UNEXPECTED_STATE);
        assertThat(db.lastFailure()).hasMessageContaining("not a YCSB record");
    }

    @Test
    void shouldSayThatScanIsNotImplemented()
    {
        assertThat(db(client).scan(TABLE, "user1", 10, null, new Vector<>())).isEqualTo(Status.NOT_IMPLEMENTED);
    }

    private VerbenaDb db(final KvClient on)
    {
        return new VerbenaDb(on, 1, new RecordListener()
        {
            @Override
            public void onReadStart(final String key)
            {
                accesses.add("read " + key);
            }

            @Override
            public void onReadEnd(final byte[] record)
            {
                accesses.add(null == record ? "read nothing" : "read " + record.length + " bytes of write " +
                    RecordCodec.sequence(record) + " by " + RecordCodec.writer(record));
            }

            @Override
            public void onWriteStart(final String key, final long sequence)
            {
                accesses.add("write " + sequence + " of " + key);
            }

            @Override
            public void onWriteEnd(final String key, final long sequence, final Outcome outcome)
            {
                writes.add(key + " " + sequence + " " + outcome);
                accesses.add("wrote " + sequence + " of " + key);
            }
        });
    }

    private static Map<String, String> read(final VerbenaDb db, final String key, final Set<String> fields)
    {
        final Map<String, ByteIterator> result = new HashMap<>();
        assertThat(db.read(TABLE, key, fields, result)).isEqualTo(Status.OK);
        return StringByteIterator.getStringMap(result);
    }

    private static Map<String, ByteIterator> values(final String... namesAndValues)
    {
        final Map<String, ByteIterator> values = new HashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2)
        {
            values.put(namesAndValues[i], new StringByteIterator(namesAndValues[i + 1]));
        }
        return values;
    }
}
