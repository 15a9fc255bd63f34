//===- Sync.cpp - positions, parts of memory, accesses, hazards -----------===//
#include "passes/Sync.h"

#include "dialects/layout/Conversion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/Shared.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

static void sortLeaves(Linear &linear) {
  llvm::sort(linear.leaves,
             [](Value a, Value b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); });
}

Linear Linear::of(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return {{}, constant.getSExtValue()};
  }
  Linear result;
  if (auto sum = value.getDefiningOp<arith::AddIOp>()) {
    Linear left = of(sum.getLhs()), right = of(sum.getRhs());
    result = left;
    llvm::append_range(result.leaves, right.leaves);
    result.constant += right.constant;
    sortLeaves(result);
    return result;
  }
  auto difference = value.getDefiningOp<arith::SubIOp>();
  if (difference && matchPattern(difference.getRhs(), m_ConstantInt(&constant))) {
    result = of(difference.getLhs());
    result.constant -= constant.getSExtValue();
    return result;
  }
  result.leaves.push_back(value);
  return result;
}

bool Linear::replace(const Linear &from, const Linear &to) {
  SmallVector<Value, 2> rest(leaves);
  for (Value leaf : from.leaves) {
    auto *it = llvm::find(rest, leaf);
    if (it == rest.end()) {
      return false;
    }
    rest.erase(it);
  }
  llvm::append_range(rest, to.leaves);
  leaves = rest;
  constant += to.constant - from.constant;
  sortLeaves(*this);
  return true;
}

bool Position::equals(const Position &other) const {
  return llvm::any_of(forms,
                      [&](const Linear &form) { return llvm::is_contained(other.forms, form); });
}

/// The distance of two positions modulo the slots, where they have a form in common.
static std::optional<int64_t> distance(const Position &a, const Position &b, int64_t slots) {
  for (const Linear &mine : a.forms) {
    for (const Linear &theirs : b.forms) {
      if (mine.leaves == theirs.leaves) {
        return (mine.constant - theirs.constant) % slots;
      }
    }
  }
  return std::nullopt;
}

bool Position::isOtherSlot(const Position &other, int64_t slots) const {
  return distance(*this, other, slots).value_or(0) != 0;
}

bool Position::isSameSlot(const Position &other, int64_t slots) const {
  return distance(*this, other, slots) == 0;
}

//===----------------------------------------------------------------------===//
// Parts of shared memory
//===----------------------------------------------------------------------===//

Memory Memory::of(Value buffer) {
  Memory memory;
  auto type = cast<tgpu::SmemType>(buffer.getType());
  memory.low.assign(type.getRank(), 0);
  memory.high.assign(type.getShape().begin(), type.getShape().end());
  while (Operation *definition = buffer.getDefiningOp()) {
    if (auto part = dyn_cast<tgpu::SubviewOp>(definition)) {
      // Dimensions that slots dropped since are the leading ones.
      size_t dropped = part.getOffsets().size() - memory.low.size();
      for (auto [dim, offset] : llvm::enumerate(part.getOffsets().drop_front(dropped))) {
        memory.low[dim] += offset;
        memory.high[dim] += offset;
      }
      buffer = part.getSource();
      // Slots of part of a ring are other ones of the whole.
      ArrayRef<int64_t> whole = cast<tgpu::SmemType>(buffer.getType()).getShape();
      if (whole.take_front(dropped) != part.getResult().getType().getShape().take_front(dropped)) {
        memory.slot = Position();
        memory.inner.clear();
      }
    } else if (auto slot = dyn_cast<tgpu::SlotOp>(definition)) {
      if (memory.slot) {
        memory.inner.insert(memory.inner.begin(), {*memory.slot, memory.slots});
      }
      memory.slots = slot.getRing().getType().getShape().front();
      memory.slot = Position::of(slot.getPosition());
      buffer = slot.getRing();
    } else {
      break;
    }
  }
  if (auto alloc = buffer.getDefiningOp<tgpu::AllocSharedOp>()) {
    memory.alloc = alloc;
    if (alloc.getOffset() && tgpu::getLayout(alloc.getResult().getType())) {
      memory.begin = *alloc.getOffset();
      memory.end = memory.begin + sharedBytes(alloc.getResult().getType());
    }
  }
  return memory;
}

bool Memory::overlaps(const Memory &other) const {
  if (messages || other.messages) {
    return messages && other.messages;
  }
  if (global || other.global) {
    return global && other.global && global->overlaps(*other.global);
  }
  if (!alloc || alloc != other.alloc) {
    return begin >= 0 && other.begin >= 0 && begin < other.end && other.begin < end;
  }
  if (slot && other.slot && slot->isOtherSlot(*other.slot, slots)) {
    return false;
  }
  if (llvm::any_of(llvm::zip(inner, other.inner), [](auto both) {
        auto &[mine, theirs] = both;
        return mine.second == theirs.second && mine.first.isOtherSlot(theirs.first, mine.second);
      })) {
    return false;
  }
  if (low.size() == other.low.size()) {
    for (size_t dim = 0; dim < low.size(); ++dim) {
      if (high[dim] <= other.low[dim] || other.high[dim] <= low[dim]) {
        return false;
      }
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Scratch space of a conversion: written, and behind a barrier of its own (`Walker::exchange`) read.
static void addScratch(tgpu::ConvertLayoutOp convert, SmallVectorImpl<Access> &accesses) {
  if (!convert.getScratch()) {
    return;
  }
  std::optional<layout::Conversion> exchange = tgpu::getExchange(convert);
  if (!exchange) {
    return;
  }
  Access access;
  access.op = convert;
  access.memory.begin = *convert.getScratch();
  access.memory.end = access.memory.begin + exchange->sharedBytes;
  access.write = true;
  accesses.push_back(access);
}

/// A message, for its place among the others: by the first thread in block code, which of all keeps
/// the order. The threads learn through scratch space where that of a tile stands.
static void addPrints(Operation *op, SmallVectorImpl<Access> &accesses) {
  auto print = dyn_cast<tile::PrintOp>(op);
  const bool inMap = isa<tile::MapOp>(op) && op->walk([](tile::PrintOp) {
                                                 return WalkResult::interrupt();
                                               }).wasInterrupted();
  if (!print && !inMap) {
    return;
  }
  Access access;
  access.op = op;
  access.memory.messages = true;
  access.write = true;
  const bool isUniform =
      !inMap && !op->getParentOfType<tile::ThreadsOp>() && !op->getParentOfType<tile::MapOp>();
  access.thread = isUniform ? kFirstThread : kAllThreads;
  accesses.push_back(access);
  if (print && print.getScratch()) {
    Access place;
    place.op = op;
    place.memory.begin = *print.getScratch();
    place.memory.end = place.memory.begin + kPrintScratch;
    place.write = true;
    accesses.push_back(place);
  }
}

SmallVector<Access, 2> sync::accessesOf(Operation *op) {
  SmallVector<Access, 2> accesses;
  auto add = [&](Value buffer, bool write, bool async, Flight flight) {
    if (isa<tgpu::SmemType>(buffer.getType())) {
      Access access;
      access.op = op;
      access.memory = Memory::of(buffer);
      access.write = write;
      access.async = async;
      access.flight = flight;
      accesses.push_back(access);
    }
  };
  addPrints(op, accesses);
  if (isa<tgpu::SlotOp, tgpu::SubviewOp, tgpu::ChannelOp>(op) || op->getNumRegions() != 0) {
    return accesses;
  }
  addGlobalAccesses(op, accesses);
  if (auto product = dyn_cast<tgpu::WgmmaOp>(op)) {
    add(product.getA(), false, true, Flight::Wgmma);
    add(product.getB(), false, true, Flight::Wgmma);
  } else if (auto store = dyn_cast<tgpu::TmaStoreOp>(op)) {
    add(store.getSource(), false, true, Flight::TmaStore);
  } else if (auto load = dyn_cast<tgpu::TmaLoadOp>(op)) {
    add(load.getDest(), true, true, Flight::None);
  } else if (auto copy = dyn_cast<tgpu::CpAsyncOp>(op)) {
    add(copy.getDest(), true, false, Flight::CpAsync);
  } else if (auto copy = dyn_cast<tgpu::CopyOp>(op)) {
    add(copy.getSource(), false, false, Flight::None);
    add(copy.getDest(), true, false, Flight::None);
  } else if (auto convert = dyn_cast<tgpu::ConvertLayoutOp>(op)) {
    addScratch(convert, accesses);
  } else if (auto atomic = dyn_cast<tgpu::AtomicOp>(op)) {
    const size_t before = accesses.size();
    add(atomic.getDest(), true, false, Flight::None);
    if (accesses.size() != before) {
      accesses.back().atomic = commutingKind(atomic);
    }
    if (atomic.getOld()) {
      add(atomic.getOld(), true, false, Flight::None);
    }
    for (Access &access : llvm::drop_begin(accesses, before)) {
      access.thread = threadOf(atomic);
    }
  } else if (auto store = dyn_cast<tgpu::LocalStoreOp>(op)) {
    add(store.getDest(), true, false, Flight::None);
    accesses.back().groups = store.getGroups();
  } else {
    bool reads =
        isa<tgpu::LocalLoadOp, tgpu::GatherOp, tgpu::FmaOp, tgpu::DotOp, tgpu::LoadElementOp>(op);
    for (Value operand : op->getOperands()) {
      add(operand, !reads, false, Flight::None);
    }
    if (isa<tgpu::StoreElementOp>(op) && !op->getParentOfType<tile::ThreadsOp>()) {
      accesses.back().thread = kFirstThread;
    }
  }
  return accesses;
}

int64_t sync::threadOf(tgpu::OneThreadOp one) {
  return one.getWarp() + (one.getGroups() == 1 ? 0 : kOfGroups * int64_t(one.getGroups()));
}

bool sync::isAccess(Operation *op) { return !accessesOf(op).empty(); }

//===----------------------------------------------------------------------===//
// Hazards
//===----------------------------------------------------------------------===//

void Walker::guard(Operation *alloc, Value channel) {
  if (alloc && !llvm::is_contained(guards[alloc], channel)) {
    guards[alloc].push_back(channel);
  }
}

/// Whether the channel says what is handed over here.
static bool guardsRings(tgpu::PublishOp publish) {
  auto channel = publish.getChannel().getDefiningOp<tgpu::ChannelOp>();
  return channel && !channel.getGuards().empty();
}

/// What a channel says it guards; of one that says nothing what a role has written since the publish before, and another role uses.
void Walker::guardPublished(tgpu::RolesOp roles) {
  llvm::DenseMap<Operation *, llvm::SmallPtrSet<Region *, 2>> users;
  for (Region &role : roles.getBodies()) {
    role.walk([&](Operation *op) {
      for (const Access &access : accessesOf(op)) {
        users[access.memory.alloc].insert(&role);
      }
    });
  }
  kernel.walk([&](tgpu::ChannelOp channel) {
    for (Value ring : channel.getGuards()) {
      guard(ring.getDefiningOp(), channel.getResult());
    }
  });
  for (Region &role : roles.getBodies()) {
    SmallVector<Operation *> written;
    role.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto publish = dyn_cast<tgpu::PublishOp>(op); publish && !guardsRings(publish)) {
        for (Operation *alloc : written) {
          if (users[alloc].size() > 1) {
            guard(alloc, publish.getChannel());
          }
        }
        written.clear();
      }
      for (const Access &access : accessesOf(op)) {
        if (access.write && !access.async && access.memory.alloc) {
          written.push_back(access.memory.alloc);
        }
      }
    });
  }
}

/// Between roles a publish gives away what its channel guards; where that says nothing, what threads write for others, or what
/// is filled again without an empty barrier, of all that the role has used before.
void Walker::collectHandovers(tgpu::RolesOp roles) {
  llvm::DenseMap<Operation *, llvm::SmallPtrSet<Region *, 2>> users;
  llvm::SmallPtrSet<Operation *, 8> changing;
  for (Region &role : roles.getBodies()) {
    role.walk([&](Operation *op) {
      auto load = dyn_cast<tgpu::TmaLoadOp>(op);
      for (const Access &access : accessesOf(op)) {
        if (!load) {
          users[access.memory.alloc].insert(&role);
        }
        if (load ? tgpu::kRefill.has(load) : access.write && !access.async) {
          changing.insert(access.memory.alloc);
        }
      }
    });
  }
  for (Region &role : roles.getBodies()) {
    SmallVector<Operation *> used;
    role.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto publish = dyn_cast<tgpu::PublishOp>(op)) {
        auto &own = handed[{&role, publish.getChannel()}];
        if (guardsRings(publish)) {
          auto channel = publish.getChannel().getDefiningOp<tgpu::ChannelOp>();
          for (Value ring : channel.getGuards()) {
            own.insert(ring.getDefiningOp());
          }
        } else {
          own.insert(used.begin(), used.end());
        }
      }
      for (const Access &access : accessesOf(op)) {
        Operation *alloc = access.memory.alloc;
        if (alloc && users[alloc].size() > 1 && changing.contains(alloc)) {
          used.push_back(alloc);
        }
      }
    });
  }
}

void Walker::collectGuards() {
  kernel.walk([&](tgpu::TmaLoadOp load) {
    guard(getAllocation(load.getDest()), load.getChannel());
    hasTmaLoads = true;
  });
  const auto loaded = guards;
  kernel.walk([&](tgpu::RolesOp roles) {
    guardPublished(roles);
    collectHandovers(roles);
  });
  kernel.walk([&](Operation *op) {
    for (const Access &access : accessesOf(op)) {
      Operation *alloc = access.memory.alloc;
      if (alloc && access.write && !isa<tgpu::TmaLoadOp>(op) && loaded.contains(alloc)) {
        repaired.insert(alloc);
      }
    }
  });
}

ArrayRef<Value> Walker::guardsOf(Operation *alloc) const {
  auto it = alloc ? guards.find(alloc) : guards.end();
  return it == guards.end() ? ArrayRef<Value>() : ArrayRef<Value>(it->second);
}

/// A generic access that is not fenced, perhaps of the slot at `position`, which is still held.
static bool isUnfenced(const Access &access, const Position &position) {
  const Memory &memory = access.memory;
  return !access.async && !access.fenced && !access.released &&
         !(memory.slot && memory.slot->isOtherSlot(position, memory.slots));
}

bool Walker::needsFence(const Access &pending, tgpu::ReleaseOp release) const {
  return isUnfenced(pending, Position::of(release.getPosition())) &&
         llvm::is_contained(guardsOf(pending.memory), release.getChannel()) &&
         llvm::any_of(release.getChannel().getUsers(), llvm::IsaPred<tgpu::TmaLoadOp>);
}

bool Walker::needsFence(const Access &pending, tgpu::PublishOp publish) const {
  auto isLoaded = [](Value channel) {
    return llvm::any_of(channel.getUsers(), llvm::IsaPred<tgpu::TmaLoadOp>);
  };
  return isUnfenced(pending, Position::of(publish.getPosition())) && handsOver(publish, pending) &&
         llvm::any_of(guardsOf(pending.memory), isLoaded);
}

ArrayRef<Operation *> Walker::handedOver(tgpu::PublishOp publish) const {
  tgpu::RolesOp roles = context.roles;
  auto it =
      roles ? handed.find({&roles.getBodies()[context.role], publish.getChannel()}) : handed.end();
  return it == handed.end() ? ArrayRef<Operation *>() : it->second.getArrayRef();
}

bool Walker::handsOver(tgpu::PublishOp publish, const Access &access) const {
  const Memory &memory = access.memory;
  return memory.alloc && llvm::is_contained(handedOver(publish), memory.alloc) &&
         !(memory.slot &&
           memory.slot->isOtherSlot(Position::of(publish.getPosition()), memory.slots));
}

Region *sync::roleAround(Operation *op) {
  auto roles = op->getParentOfType<tgpu::RolesOp>();
  return roles ? &roles.getBodies()[roles.getRoleOf(op)] : nullptr;
}

/// Whether the access comes behind the other in each group of warps that makes them: groups touch nothing of each other's.
static bool isBehindInGroups(const Access &now, const Access &before) {
  return before.met > 0 && roleAround(now.op) == roleAround(before.op) &&
         now.groups % before.met == 0 && before.groups % before.met == 0 && now.memory.alloc &&
         now.memory.alloc == before.memory.alloc && now.memory.low == before.memory.low &&
         now.memory.high == before.memory.high;
}

Hazard Walker::classify(const Access &now, const Access &before) const {
  if ((!now.write && !before.write) || (now.atomic && now.atomic == before.atomic) ||
      !now.memory.overlaps(before.memory)) {
    return Hazard::None;
  }
  // Channels order what is done to a slot while it is held behind what was done before it was given
  // back, and a fill behind all that was done. What happens while it is held is ordered as elsewhere;
  // who fills a slot again himself has to have met all who used it.
  if (!now.memory.global && now.memory.alloc == before.memory.alloc && isGuarded(now.memory)) {
    auto load = dyn_cast<tgpu::TmaLoadOp>(now.op);
    if (load ? !tgpu::kRefill.has(load) : before.released) {
      return Hazard::None;
    }
  }
  if (before.flight != Flight::None) {
    return Hazard::InFlight;
  }
  if (!before.async && now.async) {
    return !before.fenced                  ? Hazard::Fence
           : isBehindInGroups(now, before) ? Hazard::None
                                           : Hazard::Barrier;
  }
  // One thread of each group is several.
  bool sameThread =
      now.thread != kAllThreads && now.thread < kOfGroups && now.thread == before.thread;
  bool ordered =
      before.synced || sameThread || isOfSameThreads(now, before) || isBehindInGroups(now, before);
  return ordered ? Hazard::None : Hazard::Barrier;
}
