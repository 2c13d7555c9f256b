package io.verbena.compute.catalog;

import io.verbena.compute.MetaRig;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TablePage;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.TableDescriptor;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What tables name is judged by no list that a change may have made old. */
class CurrentTablesTest
{
    private static final long CHUNK_BYTES = 1 << 20;

    private final MetaRig rig = new MetaRig();
    private final List<String> names = new ArrayList<>(List.of("users"));
    private final CatalogWatch catalog;
    private final CurrentTables tables;
    private Runnable whenListed = () -> {};

    CurrentTablesTest()
    {
        final UnexpectedFailures failures = new UnexpectedFailures(rig.world.clock());
        final TableRegistry registry = new TableRegistry(rig.link, (descriptor) ->
        {
            throw new AssertionError("no table is opened");
        }, () -> 0, MetaRig.TIMEOUT_NS, failures);
        catalog = new CatalogWatch(rig.link, registry, MetaRig.TIMEOUT_NS, failures);
        tables = new CurrentTables(
            catalog, new TableLister(rig.link, MetaRig.TIMEOUT_NS, rig.world.clock()));
        rig.answer("tables", (arguments) ->
        {
            final TablePage page = new TablePage(List.copyOf(names), false);
            whenListed.run();
            return page;
        });
        rig.answer("table", (arguments) -> entry((String)arguments[0]));
        rig.registered();
        catalog.onHeard(1, 5);
        look();
        rig.run((nowNs) ->
        {
            tables.poll();
            return 0;
        });
    }

    private static TableEntry entry(final String name)
    {
        final TablePlan plan = TablePlan.forRecords(name, 1, 1, 100, new int[]{2}, CHUNK_BYTES);
        plan.place(2, 0);
        return new TableEntry(name, 1, plan.descriptor().encode());
    }

    /** The newest version that was heard is looked after. */
    private void look()
    {
        catalog.onOpened(catalog.heardVersion());
    }

    private List<String> listed()
    {
        return tables.all().stream().map(TableDescriptor::name).toList();
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    @Test
    void shouldCountUntilTheVersionChanges()
    {
        tables.start();
        assertThat(tables.isDone()).isFalse();
        rig.runUntil(tables::isDone);
        assertThat(tables.isCurrent()).isTrue();
        assertThat(listed()).containsExactly("users");
        catalog.onHeard(2, 5);
        assertThat(tables.isCurrent()).as("only an epoch has passed").isTrue();
        catalog.onHeard(2, 6);
        assertThat(tables.isCurrent()).as("heard, and not looked after").isFalse();
        assertThat(tables.isDone()).isFalse();
        look();
        assertThat(tables.isCurrent()).as("looked after, and not listed").isFalse();
    }

    @Test
    void shouldListAnewWhatChangedWhileItWasListed()
    {
        whenListed = () ->
        {
            whenListed = () -> {};
            names.add("orders");
            catalog.onHeard(2, 6);
            look();
        };
        tables.start();
        rig.runUntil(tables::isDone);
        assertThat(listed()).containsExactly("users", "orders");
        assertThat(rig.count("tables")).isEqualTo(2);
    }

    /** Of a version that was not looked after it is unknown which tables it closes. */
    @Test
    void shouldWaitUntilTheNewestVersionIsLookedAfter()
    {
        catalog.onHeard(2, 6);
        tables.start();
        rig.runUntil(() -> listed().contains("users"));
        rig.runFor(MetaRig.TIMEOUT_NS);
        assertThat(tables.isDone()).as("nobody looked what version 6 is about").isFalse();
        assertThat(rig.count("tables")).as("asked once, not again and again").isEqualTo(1);
        look();
        rig.runUntil(tables::isDone);
        assertThat(rig.count("tables")).as("begun before the look").isEqualTo(2);
    }
}
