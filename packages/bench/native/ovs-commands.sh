#!/bin/sh
# A CNI plugin that does with commands what OpenShift SDN did for a pod: the address from host-local, the link by ip, the
# port by ovs-vsctl, and the flows by ovs-ofctl in one bundle. The bridge has the flows of the node already.
#
# Environment: that of a CNI plugin, and OVS_RUNDIR; LINK, the node's end of the pod's link; VNID of the pod; GATEWAY.
# Standard input is for host-local.
set -eu

pod=${CNI_NETNS##*/}
ofctl="ovs-ofctl -O OpenFlow14 bundle unix:$OVS_RUNDIR/br0.mgmt -"

# The MAC address of a pod ends with its address.
print_hex() {
  IFS=.
  set -- $1
  printf '%02x:%02x:%02x:%02x' "$@"
}

add() {
  result=$("$CNI_PATH/host-local")
  ip=${result#*\"address\": \"}
  ip=${ip%%/*}
  hex=$(print_hex "$ip")
  ip -batch - <<EOF
link add $LINK mtu 1450 type veth peer name eth0 mtu 1450 address 0a:58:$hex netns $pod
link set $LINK up
EOF
  ip -n "$pod" -batch - <<EOF
link set eth0 up
addr add $ip/23 dev eth0
route add default via $GATEWAY
EOF
  ovs-vsctl add-port br0 "$LINK" -- \
    set Interface "$LINK" "external_ids:sandbox=$CNI_CONTAINERID" "external_ids:ip=$ip"
  port=$(ovs-vsctl get Interface "$LINK" ofport)
  $ofctl <<EOF
flow add table=20,priority=100,in_port=$port,arp,arp_spa=$ip,arp_sha=00:00:$hex/00:00:ff:ff:ff:ff,actions=load:$VNID->NXM_NX_REG0[],goto_table:30
flow add table=20,priority=100,in_port=$port,ip,nw_src=$ip,actions=load:$VNID->NXM_NX_REG0[],goto_table:27
flow add table=25,priority=100,ip,nw_src=$ip,actions=load:$VNID->NXM_NX_REG0[],goto_table:27
flow add table=40,priority=100,arp,arp_tpa=$ip,actions=output:$port
flow add table=70,priority=100,ip,nw_dst=$ip,actions=load:$VNID->NXM_NX_REG1[],load:$port->NXM_NX_REG2[],goto_table:80
flow add table=80,priority=100,reg0=$VNID,reg1=$VNID,actions=output:NXM_NX_REG2[]
EOF
  printf '%s' "$result"
}

# The address is known from the port. The flow of the project stays.
delete() {
  ip=$(ovs-vsctl get Interface "$LINK" external_ids:ip)
  ip=${ip#\"}
  ip=${ip%\"}
  $ofctl <<EOF
flow delete table=20,arp,arp_spa=$ip
flow delete table=20,ip,nw_src=$ip
flow delete table=25,ip,nw_src=$ip
flow delete table=40,arp,arp_tpa=$ip
flow delete table=70,ip,nw_dst=$ip
EOF
  ovs-vsctl del-port br0 "$LINK"
  ip link delete "$LINK"
  "$CNI_PATH/host-local"
}

case $CNI_COMMAND in
  ADD) add ;;
  DEL) delete ;;
esac
