package io.verbena.meta;

import io.verbena.meta.catalog.TableCatalog;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.StoredTable;
import io.verbena.raas.directory.DirectoryView;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Tables of the catalog in the published view, as far as it has room. */
class ShownTablesTest
{
    private static final int ROOM_BYTES = 512;
    private static final int DESCRIPTOR_BYTES = 160;

    private final SoftFabric fabric;
    private final Device device;
    private final ProtectionDomain domain;
    private final MemoryRegion region;
    private final DirectoryView view;
    private final TableCatalog catalog;
    private final ShownTables shown;

    ShownTablesTest(@TempDir final Path directory)
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
        device = fabric.openDevice("meta");
        domain = device.allocateProtectionDomain();
        region = domain.allocateRegistered(DirectoryView.regionLengthBytes(4, ROOM_BYTES), AccessFlags.REMOTE_READ);
        view = new DirectoryView(region, 4, ROOM_BYTES);
        catalog = new TableCatalog(new InMemoryMetaStore(), List.of(table("restored", 1)));
        shown = new ShownTables(view, catalog);
    }

    private static StoredTable table(final String name, final int tableId)
    {
        return new StoredTable(name, tableId, new byte[DESCRIPTOR_BYTES]);
    }

    private void create(final String name, final int tableId)
    {
        final StoredTable table = table(name, tableId);
        catalog.createIfAbsent(table);
        shown.show(table);
    }

    private void drop(final String name)
    {
        catalog.drop(name, (batch) -> {});
        shown.hide(name);
    }

    @AfterEach
    void close()
    {
        view.close();
        region.close();
        domain.close();
        device.close();
        fabric.close();
    }

    @Test
    void shouldShowTablesOfTheStoreAndMakeRoomByDrops()
    {
        assertThat(view.namedBytes()).as("of a table that was restored").isEqualTo(ROOM_BYTES / 2);
        create("second", 2);
        assertThat(view.namesOutside()).isEmpty();
        create("third", 3);
        create("fourth", 4);
        assertThat(view.namesOutside()).containsExactlyInAnyOrder("third", "fourth");
        drop("fourth");
        assertThat(view.namesOutside()).containsExactly("third");
        drop("restored");
        assertThat(view.namesOutside()).isEmpty();
        assertThat(view.namedBytes()).isEqualTo(ROOM_BYTES);
        drop("second");
        drop("third");
        assertThat(view.namedBytes()).isZero();
    }
}
