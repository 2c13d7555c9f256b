package io.verbena.meta.catalog;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.StoredTable;
import io.verbena.protocol.message.TableName;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TableCatalogTest
{
    private final InMemoryMetaStore store = new InMemoryMetaStore();
    private final TableCatalog catalog = new TableCatalog(store, List.of());

    @Test
    void shouldTellExactlyOneCreatorThatItCreated()
    {
        assertThat(catalog.createIfAbsent(table("users", 1))).isNull();
        assertThat(catalog.createIfAbsent(table("users", 2)).tableId()).isEqualTo(1);
        assertThat(catalog.table("users").tableId()).isEqualTo(1);
    }

    @Test
    void shouldListByNameAndForgetDroppedOnes()
    {
        catalog.createIfAbsent(table("b", 1));
        catalog.createIfAbsent(table("a", 2));
        assertThat(catalog.tables()).extracting(StoredTable::name).containsExactly("a", "b");
        assertThat(catalog.drop("b", store::write).tableId()).isEqualTo(1);
        assertThat(catalog.drop("b", store::write)).isNull();
        assertThat(catalog.table("b")).isNull();
        assertThat(catalog.createIfAbsent(table("b", 3))).isNull();
    }

    @Test
    void shouldKnowItsTablesWhenRestored()
    {
        store.write(new MetaBatch().counters(MetaCounters.initial(1)));
        catalog.createIfAbsent(table("users", 1));
        catalog.createIfAbsent(table("gone", 2));
        catalog.drop("gone", store::write);

        final TableCatalog restored = new TableCatalog(store, store.load().tables());

        assertThat(restored.tables()).extracting(StoredTable::name).containsExactly("users");
    }

    @Test
    void shouldAllowPlainNamesOnly()
    {
        for (final String name : List.of("a", "A1", "_x", "user.events-2", "x".repeat(128)))
        {
            assertThat(TableName.problem(name)).as(name).isNull();
        }

        for (final String name : List.of("", " ", "a b", "-a", ".a", "../a", "a/b", "a\n", "\u00e4", "x".repeat(129)))
        {
            assertThat(TableName.problem(name)).as(name).isNotNull().contains("not allowed");
            assertThatThrownBy(() -> catalog.createIfAbsent(table(name, 1)))
                .isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static StoredTable table(final String name, final int tableId)
    {
        return new StoredTable(name, tableId, new byte[]{1, 2, 3});
    }
}
