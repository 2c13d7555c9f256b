package io.verbena.rdma.ibverbs.library;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.UnionLayout;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * The structures of {@code infiniband/verbs.h} (ABI of libibverbs.so.1) as far as they are used. Fields and structures
 * carry their C names, so that a test can ask a C compiler about each; a structure whose end is not used ends early and
 * is listed in {@link #PREFIXES}.
 */
@SuppressWarnings("restricted")
public final class VerbsLayouts
{
    public static final StructLayout IBV_DEVICE_ATTR = struct("ibv_device_attr",
        bytes("fw_ver", 64), u64("node_guid"), u64("sys_image_guid"), u64("max_mr_size"), u64("page_size_cap"),
        u32("vendor_id"), u32("vendor_part_id"), u32("hw_ver"), u32("max_qp"), u32("max_qp_wr"),
        u32("device_cap_flags"), u32("max_sge"), u32("max_sge_rd"), u32("max_cq"), u32("max_cqe"), u32("max_mr"),
        u32("max_pd"), u32("max_qp_rd_atom"), u32("max_ee_rd_atom"), u32("max_res_rd_atom"),
        u32("max_qp_init_rd_atom"), u32("max_ee_init_rd_atom"), u32("atomic_cap"), u32("max_ee"), u32("max_rdd"),
        u32("max_mw"), u32("max_raw_ipv6_qp"), u32("max_raw_ethy_qp"), u32("max_mcast_grp"),
        u32("max_mcast_qp_attach"), u32("max_total_mcast_qp_attach"), u32("max_ah"), u32("max_fmr"),
        u32("max_map_per_fmr"), u32("max_srq"), u32("max_srq_wr"), u32("max_srq_sge"), u16("max_pkeys"),
        u8("local_ca_ack_delay"), u8("phys_port_cnt"));
    public static final StructLayout IBV_PORT_ATTR = struct("ibv_port_attr",
        u32("state"), u32("max_mtu"), u32("active_mtu"), u32("gid_tbl_len"), u32("port_cap_flags"), u32("max_msg_sz"),
        u32("bad_pkey_cntr"), u32("qkey_viol_cntr"), u16("pkey_tbl_len"), u16("lid"), u16("sm_lid"), u8("lmc"),
        u8("max_vl_num"), u8("sm_sl"), u8("subnet_timeout"), u8("init_type_reply"), u8("active_width"),
        u8("active_speed"), u8("phys_state"), u8("link_layer"), u8("flags"), u16("port_cap_flags2"));
    public static final StructLayout IBV_GID_ENTRY = struct("ibv_gid_entry",
        // A union of 16 bytes and two 64-bit words.
        MemoryLayout.sequenceLayout(2, ValueLayout.JAVA_LONG).withName("gid"), u32("gid_index"), u32("port_num"),
        u32("gid_type"), u32("ndev_ifindex"));
    public static final StructLayout IBV_CONTEXT_OPS = struct("ibv_context_ops",
        skip(7), pointer("alloc_mw"), pointer("bind_mw"), pointer("dealloc_mw"), skip(1), pointer("poll_cq"),
        pointer("req_notify_cq"), skip(7), pointer("post_srq_recv"), skip(4), pointer("post_send"),
        pointer("post_recv"), skip(5));
    public static final StructLayout IBV_CONTEXT = struct("ibv_context",
        pointer("device"), IBV_CONTEXT_OPS.withName("ops"), u32("cmd_fd"), u32("async_fd"), u32("num_comp_vectors"));
    public static final StructLayout IBV_COMP_CHANNEL = struct("ibv_comp_channel",
        pointer("context"), u32("fd"), u32("refcnt"));
    public static final StructLayout IBV_CQ = struct("ibv_cq",
        pointer("context"), pointer("channel"), pointer("cq_context"), u32("handle"), u32("cqe"));
    public static final StructLayout IBV_MR = struct("ibv_mr",
        pointer("context"), pointer("pd"), pointer("addr"), u64("length"), u32("handle"), u32("lkey"), u32("rkey"));
    public static final StructLayout IBV_MW = struct("ibv_mw",
        pointer("context"), pointer("pd"), u32("rkey"), u32("handle"), u32("type"));
    public static final StructLayout IBV_QP = struct("ibv_qp",
        pointer("context"), pointer("qp_context"), pointer("pd"), pointer("send_cq"), pointer("recv_cq"),
        pointer("srq"), u32("handle"), u32("qp_num"), u32("state"), u32("qp_type"));
    public static final StructLayout IBV_QP_CAP = struct("ibv_qp_cap",
        u32("max_send_wr"), u32("max_recv_wr"), u32("max_send_sge"), u32("max_recv_sge"), u32("max_inline_data"));
    public static final StructLayout IBV_QP_INIT_ATTR = struct("ibv_qp_init_attr",
        pointer("qp_context"), pointer("send_cq"), pointer("recv_cq"), pointer("srq"), IBV_QP_CAP.withName("cap"),
        u32("qp_type"), u32("sq_sig_all"));
    public static final StructLayout IBV_GLOBAL_ROUTE = struct("ibv_global_route",
        MemoryLayout.sequenceLayout(2, ValueLayout.JAVA_LONG).withName("dgid"), u32("flow_label"), u8("sgid_index"),
        u8("hop_limit"), u8("traffic_class"));
    public static final StructLayout IBV_AH_ATTR = struct("ibv_ah_attr",
        IBV_GLOBAL_ROUTE.withName("grh"), u16("dlid"), u8("sl"), u8("src_path_bits"), u8("static_rate"),
        u8("is_global"), u8("port_num"));
    public static final StructLayout IBV_QP_ATTR = struct("ibv_qp_attr",
        u32("qp_state"), u32("cur_qp_state"), u32("path_mtu"), u32("path_mig_state"), u32("qkey"), u32("rq_psn"),
        u32("sq_psn"), u32("dest_qp_num"), u32("qp_access_flags"), IBV_QP_CAP.withName("cap"),
        IBV_AH_ATTR.withName("ah_attr"), IBV_AH_ATTR.withName("alt_ah_attr"), u16("pkey_index"),
        u16("alt_pkey_index"), u8("en_sqd_async_notify"), u8("sq_draining"), u8("max_rd_atomic"),
        u8("max_dest_rd_atomic"), u8("min_rnr_timer"), u8("port_num"), u8("timeout"), u8("retry_cnt"),
        u8("rnr_retry"), u8("alt_port_num"), u8("alt_timeout"), u32("rate_limit"));
    public static final StructLayout IBV_SRQ_ATTR =
        struct("ibv_srq_attr", u32("max_wr"), u32("max_sge"), u32("srq_limit"));
    public static final StructLayout IBV_SRQ_INIT_ATTR = struct("ibv_srq_init_attr",
        pointer("srq_context"), IBV_SRQ_ATTR.withName("attr"));
    public static final StructLayout IBV_SGE = struct("ibv_sge", u64("addr"), u32("length"), u32("lkey"));
    public static final StructLayout IBV_MW_BIND_INFO = struct("ibv_mw_bind_info",
        pointer("mr"), u64("addr"), u64("length"), u32("mw_access_flags"));
    public static final StructLayout IBV_SEND_WR = struct("ibv_send_wr",
        u64("wr_id"), pointer("next"), pointer("sg_list"), u32("num_sge"), u32("opcode"), u32("send_flags"),
        MemoryLayout.unionLayout(u32("imm_data"), u32("invalidate_rkey")),
        union("wr",
            struct("rdma", u64("remote_addr"), u32("rkey")),
            struct("atomic", u64("remote_addr"), u64("compare_add"), u64("swap"), u32("rkey")),
            struct("ud", pointer("ah"), u32("remote_qpn"), u32("remote_qkey"))),
        union("qp_type", struct("xrc", u32("remote_srqn"))),
        MemoryLayout.unionLayout(
            struct("bind_mw", pointer("mw"), u32("rkey"), IBV_MW_BIND_INFO.withName("bind_info")),
            struct("tso", pointer("hdr"), u16("hdr_sz"), u16("mss"))));
    public static final StructLayout IBV_RECV_WR = struct("ibv_recv_wr",
        u64("wr_id"), pointer("next"), pointer("sg_list"), u32("num_sge"));
    public static final StructLayout IBV_WC = struct("ibv_wc",
        u64("wr_id"), u32("status"), u32("opcode"), u32("vendor_err"), u32("byte_len"), u32("imm_data"), u32("qp_num"),
        u32("src_qp"), u32("wc_flags"), u16("pkey_index"), u16("slid"), u8("sl"), u8("dlid_path_bits"));
    public static final StructLayout IBV_ASYNC_EVENT = struct("ibv_async_event",
        union("element", pointer("cq"), pointer("qp"), pointer("srq"), u32("port_num")), u32("event_type"));

    /** Every layout above. */
    public static final List<StructLayout> ALL = List.of(
        IBV_DEVICE_ATTR, IBV_PORT_ATTR, IBV_GID_ENTRY, IBV_CONTEXT_OPS, IBV_CONTEXT, IBV_COMP_CHANNEL, IBV_CQ, IBV_MR,
        IBV_MW, IBV_QP, IBV_QP_CAP, IBV_QP_INIT_ATTR, IBV_GLOBAL_ROUTE, IBV_AH_ATTR, IBV_QP_ATTR, IBV_SRQ_ATTR,
        IBV_SRQ_INIT_ATTR, IBV_SGE, IBV_MW_BIND_INFO, IBV_SEND_WR, IBV_RECV_WR, IBV_WC, IBV_ASYNC_EVENT);
    /** Made by the library and read here up to some field: their size is not ours to know. */
    public static final List<StructLayout> PREFIXES = List.of(IBV_CONTEXT, IBV_CQ, IBV_QP);

    private VerbsLayouts()
    {
    }

    /** Offset of a field by its path of C names; unnamed unions are looked through. */
    public static long offset(final StructLayout layout, final String... path)
    {
        MemoryLayout at = layout;
        long offset = 0;
        for (final String name : path)
        {
            final long[] found = {-1};
            at = find(at, name, found);
            offset += found[0];
        }
        return offset;
    }

    private static MemoryLayout find(final MemoryLayout group, final String name, final long[] offset)
    {
        final List<MemoryLayout> members = ((GroupLayout)group).memberLayouts();
        for (int i = 0; i < members.size(); i++)
        {
            final MemoryLayout member = members.get(i);
            final long at = group instanceof UnionLayout ? 0 : group.byteOffset(PathElement.groupElement(i));
            if (member.name().filter(name::equals).isPresent())
            {
                offset[0] = at;
                return member;
            }
            if (member.name().isEmpty() && member instanceof UnionLayout)
            {
                final MemoryLayout inner = find(member, name, offset);
                if (inner != null)
                {
                    offset[0] += at;
                    return inner;
                }
            }
        }
        return null;
    }

    /** Members with the padding that C puts between and behind them. */
    public static StructLayout struct(final String name, final MemoryLayout... members)
    {
        final List<MemoryLayout> padded = new ArrayList<>();
        long offset = 0;
        long alignment = 1;
        for (final MemoryLayout member : members)
        {
            offset = pad(padded, offset, member.byteAlignment()) + member.byteSize();
            padded.add(member);
            alignment = Math.max(alignment, member.byteAlignment());
        }
        pad(padded, offset, alignment);
        return MemoryLayout.structLayout(padded.toArray(new MemoryLayout[0])).withName(name);
    }

    private static long pad(final List<MemoryLayout> members, final long offset, final long alignment)
    {
        final long gap = -offset & alignment - 1;
        if (gap > 0)
        {
            members.add(MemoryLayout.paddingLayout(gap));
        }
        return offset + gap;
    }

    public static UnionLayout union(final String name, final MemoryLayout... members)
    {
        return MemoryLayout.unionLayout(members).withName(name);
    }

    public static MemoryLayout u64(final String name)
    {
        return ValueLayout.JAVA_LONG.withName(name);
    }

    public static MemoryLayout u32(final String name)
    {
        return ValueLayout.JAVA_INT.withName(name);
    }

    public static MemoryLayout u16(final String name)
    {
        return ValueLayout.JAVA_SHORT.withName(name);
    }

    public static MemoryLayout u8(final String name)
    {
        return ValueLayout.JAVA_BYTE.withName(name);
    }

    public static MemoryLayout pointer(final String name)
    {
        return ValueLayout.JAVA_LONG.withName(name);
    }

    private static MemoryLayout bytes(final String name, final long count)
    {
        return MemoryLayout.sequenceLayout(count, ValueLayout.JAVA_BYTE).withName(name);
    }

    /** Pointers that are not used. */
    public static MemoryLayout skip(final int pointers)
    {
        return MemoryLayout.paddingLayout(pointers * Long.BYTES);
    }

    /** An int of a structure that the library made. */
    public static int intAt(final long structure, final long offset)
    {
        return MemorySegment.ofAddress(structure).reinterpret(offset + Integer.BYTES).get(ValueLayout.JAVA_INT, offset);
    }

    /** A pointer in a structure that the library made. */
    public static long pointerAt(final long structure, final long offset)
    {
        return MemorySegment.ofAddress(structure).reinterpret(offset + Long.BYTES).get(ValueLayout.JAVA_LONG, offset);
    }
}
