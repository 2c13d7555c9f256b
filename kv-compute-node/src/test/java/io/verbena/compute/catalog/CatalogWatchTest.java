package io.verbena.compute.catalog;

import io.verbena.compute.MetaRig;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.table.TableEngine;
import io.verbena.table.TableEngineConfiguration;
import io.verbena.table.directory.TablePlan;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A node passes no epoch before it has asked what the version heard with it is about. */
class CatalogWatchTest
{
    private static final int TABLE_ID = 5;
    private static final long CHUNK_BYTES = 1 << 20;

    private final MetaRig rig = new MetaRig();
    private final UnexpectedFailures failures = new UnexpectedFailures(rig.world.clock());
    private final TableEngine engine;
    private final TableRegistry tables;
    private final CatalogWatch catalog;
    private final TableEntry users = entry(TABLE_ID);
    private TableEntry known = users;

    CatalogWatchTest()
    {
        engine = TableEngine.open(rig.raas.protectionDomain(), rig.raas.device().attributes(), rig.raas.clock(),
            new TableEngineConfiguration().operationSlots(4).writerNumber(1).clientId(3).initialEpoch(10)
                .operationListener((operation) -> {}).chunkSource((memoryNodeId) -> {}));
        tables = new TableRegistry(rig.link, engine::openTable, this::news, MetaRig.TIMEOUT_NS, failures);
        catalog = new CatalogWatch(rig.link, tables, MetaRig.TIMEOUT_NS, failures);
        rig.answer("table", (arguments) ->
        {
            if (null == known)
            {
                throw new ControlException(ControlStatus.NO_SUCH_TABLE, "dropped");
            }
            return known;
        });
        rig.registered();
        tables.open(users);
        catalog.onHeard(10, 20);
        rig.run(catalog::poll);
        rig.runUntil(() -> !catalog.isBusy());
    }

    private long news()
    {
        return catalog.news();
    }

    private static TableEntry entry(final int tableId)
    {
        final TablePlan plan = TablePlan.forRecords("users", tableId, 1, 100, new int[]{2}, CHUNK_BYTES);
        long offset = 0;
        while (plan.place(2, offset))
        {
            offset += CHUNK_BYTES;
        }
        return new TableEntry("users", tableId, plan.descriptor().encode());
    }

    @AfterEach
    void close()
    {
        engine.close();
        rig.close();
    }

    @Test
    void shouldPassTheEpochOnceItHasAsked()
    {
        catalog.onHeard(11, 21);
        assertThat(catalog.epoch()).as("not asked yet").isEqualTo(10);
        assertThat(catalog.version()).isEqualTo(-1);
        rig.runUntil(() -> !catalog.isBusy());
        assertThat(catalog.epoch()).isEqualTo(11);
        assertThat(catalog.version()).isEqualTo(21);
        assertThat(tables.find(TABLE_ID)).isNotNull();
        assertThat(catalog.closedCount()).isZero();
    }

    @Test
    void shouldNotPassTheEpochWhileNobodyAnswers()
    {
        rig.silent(true);
        catalog.onHeard(11, 21);
        rig.runFor(20 * MetaRig.TIMEOUT_NS);
        assertThat(catalog.epoch()).isEqualTo(10);
        assertThat(catalog.isBusy()).isTrue();
        rig.silent(false);
        rig.runUntil(() -> !catalog.isBusy());
        assertThat(catalog.epoch()).isEqualTo(11);
    }

    @Test
    void shouldCloseATableThatWasDroppedBeforeItPassesTheEpoch()
    {
        known = null;
        catalog.onHeard(11, 21);
        rig.runUntil(() -> 11 == catalog.epoch());
        assertThat(tables.find(TABLE_ID)).isNull();
        assertThat(catalog.closedCount()).isEqualTo(1);
    }

    @Test
    void shouldCloseATableWhoseNameAnotherOneHas()
    {
        known = entry(TABLE_ID + 1);
        catalog.onHeard(11, 21);
        rig.runUntil(() -> 11 == catalog.epoch());
        assertThat(tables.find(TABLE_ID)).isNull();
    }

    @Test
    void shouldPassAnEpochWithoutANewVersionAtOnce()
    {
        final long asked = rig.count("table");
        catalog.onHeard(11, 20);
        assertThat(catalog.epoch()).isEqualTo(11);
        rig.runFor(MetaRig.TIMEOUT_NS);
        assertThat(rig.count("table")).as("nothing to ask").isEqualTo(asked);
    }

    @Test
    void shouldAskNobodyAboutTablesThatWereOpenedAsOfTheVersionHeard()
    {
        final CatalogWatch joining = new CatalogWatch(rig.link, tables, MetaRig.TIMEOUT_NS, failures);
        joining.onHeard(10, 20);
        joining.onHeard(11, 20);
        assertThat(joining.epoch()).as("nothing is known yet").isZero();
        joining.onOpened(20);
        final long asked = rig.count("table");
        assertThat(joining.epoch()).isEqualTo(11);
        assertThat(joining.isBusy()).isFalse();
        rig.run(joining::poll);
        rig.runFor(MetaRig.TIMEOUT_NS);
        assertThat(rig.count("table")).isEqualTo(asked);
    }

    @Test
    void shouldAskBeforeItPassesAnEpochThatCameWithALaterVersionThanTablesWereOpenedAsOf()
    {
        final CatalogWatch joining = new CatalogWatch(rig.link, tables, MetaRig.TIMEOUT_NS, failures);
        joining.onHeard(10, 20);
        joining.onHeard(11, 21);
        joining.onOpened(20);
        assertThat(joining.epoch()).as("of a version that is not known").isZero();
        assertThat(joining.version()).isEqualTo(-1);
        final long asked = rig.count("table");
        rig.run(joining::poll);
        rig.runUntil(() -> 11 == joining.epoch());
        assertThat(rig.count("table")).isEqualTo(asked + 1);
    }
}
