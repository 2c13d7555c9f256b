package io.verbena.compute.catalog;

import io.verbena.compute.MetaRig;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TablePage;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.TableDescriptor;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

import static org.assertj.core.api.Assertions.assertThat;

class TableListerTest
{
    private static final long CHUNK_BYTES = 1 << 20;
    private static final int PAGE = 7;

    private final MetaRig rig = new MetaRig();
    private final TreeMap<String, byte[]> catalog = new TreeMap<>();
    private final List<String> dropped = new ArrayList<>();
    private final TableLister lister = new TableLister(rig.link, MetaRig.TIMEOUT_NS, rig.world.clock());

    @BeforeEach
    void open()
    {
        rig.answer("tables", (arguments) ->
        {
            final List<String> names = catalog.tailMap((String)arguments[0], false).keySet().stream().toList();
            return new TablePage(names.subList(0, Math.min(PAGE, names.size())), names.size() > PAGE);
        });
        rig.answer("table", (arguments) ->
        {
            if (dropped.contains(arguments[0]))
            {
                throw new ControlException(ControlStatus.NO_SUCH_TABLE, "dropped");
            }
            return new TableEntry((String)arguments[0], 1, catalog.get(arguments[0]));
        });
        rig.registered();
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    private void add(final int count)
    {
        for (int i = 0; i < count; i++)
        {
            final String name = String.format("t%03d", i);
            final TablePlan plan = TablePlan.forRecords(name, i + 1, 1, 100, new int[]{2}, CHUNK_BYTES);
            plan.place(2, 0);
            catalog.put(name, plan.descriptor().encode());
        }
    }

    private List<String> listed()
    {
        return lister.tables().stream().map(TableDescriptor::name).toList();
    }

    private void run()
    {
        lister.start();
        rig.run((nowNs) ->
        {
            lister.poll();
            return 0;
        });
    }

    @Test
    void shouldListAllTablesOfAllPages()
    {
        for (final int count : new int[]{0, 1, PAGE, PAGE + 1, 40})
        {
            add(count);
            lister.start();
            assertThat(lister.isDone()).isFalse();
            rig.runUntil(() ->
            {
                lister.poll();
                return lister.isDone();
            });
            assertThat(listed()).as("%s tables", count).containsExactlyElementsOf(catalog.keySet());
        }
    }

    @Test
    void shouldLeaveOutWhatWasDroppedMeanwhile()
    {
        add(20);
        dropped.addAll(List.of("t000", "t018", "t019"));
        run();
        rig.runUntil(lister::isDone);
        assertThat(listed()).hasSize(17).doesNotContainAnyElementsOf(dropped);
    }

    /** Where all of the first names are gone, what was asked is not to be asked again. */
    @Test
    void shouldEndWhenEverythingWasDroppedMeanwhile()
    {
        add(40);
        dropped.addAll(catalog.keySet());
        run();
        rig.runUntil(lister::isDone);
        assertThat(listed()).isEmpty();
        assertThat(rig.count("table")).isEqualTo(40);
        assertThat(rig.count("tables")).isEqualTo(6);
    }

    @Test
    void shouldBeginAnewWhenACallFails()
    {
        add(20);
        for (final String method : List.of("tables", "table"))
        {
            final int[] left = {2};
            final var answer = rig.answering(method);
            rig.answer(method, (arguments) ->
            {
                if (left[0]-- == 0)
                {
                    throw new ControlException(ControlStatus.UNAVAILABLE, "now and then");
                }
                return answer.apply(arguments);
            });
        }
        run();
        rig.runUntil(lister::isDone);
        assertThat(listed()).containsExactlyElementsOf(catalog.keySet());
    }

    @Test
    void shouldHaveNoListWhileATableCannotBeRead()
    {
        add(3);
        final byte[] whole = catalog.put("t001", new byte[9]);
        run();
        rig.runUntil(lister::isUnreadable);
        assertThat(lister.isDone()).isFalse();
        final long asked = rig.count("table");
        rig.runFor(100_000_000);
        assertThat(rig.count("table")).as("not asked again by itself").isEqualTo(asked);
        catalog.put("t001", whole);
        lister.start();
        assertThat(lister.isUnreadable()).isFalse();
        rig.runUntil(lister::isDone);
        assertThat(listed()).hasSize(3);
    }

    /** Not as fast as messages go. */
    @Test
    void shouldAskAMetaServerThatCannotAnswerAFewTimesASecond()
    {
        rig.refuse("tables", ControlStatus.UNAVAILABLE);
        run();
        rig.runFor(1_000_000_000);
        assertThat(rig.count("tables")).as("in one second").isBetween(4L, 60L);
    }
}
