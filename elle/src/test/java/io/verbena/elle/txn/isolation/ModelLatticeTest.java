package io.verbena.elle.txn.isolation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.EnumSet;
import java.util.Set;

class ModelLatticeTest
{
    @ParameterizedTest
    @CsvSource({
        "strict-serializable, serializable, true",
        "strict-serializable, strong-snapshot-isolation, true",
        "serializable, snapshot-isolation, true",
        "serializable, repeatable-read, true",
        "snapshot-isolation, repeatable-read, false",
        "repeatable-read, snapshot-isolation, false",
        "snapshot-isolation, causal-cerone, true",
        "serializable, strong-read-committed, false",
        "strong-session-serializable, strong-session-read-uncommitted, true",
        "cursor-stability, read-committed, true",
        "read-uncommitted, read-committed, false"})
    void shouldKnowWhichModelImpliesWhich(final String strong, final String weak, final boolean isImplied)
    {
        assertThat(ModelLattice.impliedBy(ConsistencyModel.ofWord(strong)).contains(ConsistencyModel.ofWord(weak)))
            .isEqualTo(isImplied);
    }

    @ParameterizedTest
    @EnumSource(ConsistencyModel.class)
    void shouldPutEveryModelBetweenTheWeakestAndTheStrongest(final ConsistencyModel model)
    {
        assertThat(ModelLattice.impliedBy(ConsistencyModel.STRICT_SERIALIZABLE)).contains(model);
        assertThat(ModelLattice.impliedBy(model)).contains(ConsistencyModel.READ_UNCOMMITTED);
    }

    @ParameterizedTest
    @EnumSource(AnomalyType.class)
    void shouldForbidEveryAnomalyUnderTheStrongestModel(final AnomalyType type)
    {
        assertThat(ModelLattice.ruledOutBy(EnumSet.of(type))).contains(ConsistencyModel.STRICT_SERIALIZABLE);
    }

    @Test
    void shouldRuleOutEverythingWhenWritesGoInCircles()
    {
        assertThat(ModelLattice.ruledOutBy(EnumSet.of(AnomalyType.G0)))
            .containsExactlyInAnyOrder(ConsistencyModel.values());
    }

    @Test
    void shouldTellWhatRemainsAfterWriteSkew()
    {
        final Set<ConsistencyModel> ruledOut = ModelLattice.ruledOutBy(EnumSet.of(AnomalyType.G2_ITEM));
        assertThat(ModelLattice.weakest(ruledOut)).containsExactly(ConsistencyModel.REPEATABLE_READ);
        assertThat(ModelLattice.strongestWithout(ruledOut)).containsExactlyInAnyOrder(
            ConsistencyModel.STRONG_SNAPSHOT_ISOLATION, ConsistencyModel.UPDATE_SERIALIZABLE);
    }

    @Test
    void shouldRuleOutNothingWithoutAnomalies()
    {
        assertThat(ModelLattice.ruledOutBy(Set.of())).isEmpty();
        assertThat(ModelLattice.strongestWithout(Set.of())).containsExactly(ConsistencyModel.STRICT_SERIALIZABLE);
    }

    @Test
    void shouldKnowModelsByTheirOtherNames()
    {
        assertThat(ConsistencyModel.ofWord("PL-2.99")).isEqualTo(ConsistencyModel.REPEATABLE_READ);
        assertThat(ConsistencyModel.ofWord("strong-serializable")).isEqualTo(ConsistencyModel.STRICT_SERIALIZABLE);
    }

    @Test
    void shouldNameTheModelsWhenAskedForAnotherOne()
    {
        assertThatThrownBy(() -> ConsistencyModel.ofWord("eventual"))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("eventual").hasMessageContaining("snapshot-isolation");
    }
}
